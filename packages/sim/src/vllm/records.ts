import { appendFileSync, mkdirSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';

export type RequestEnd = 'stop' | 'length' | 'tool_calls' | 'aborted' | 'refused' | 'died';

/** A line of `requests.ndjson`. */
export interface RequestRecord {
  readonly id: string;
  readonly path: string;
  readonly model: string | null;
  /** since 1970 */
  readonly atMs: number;
  readonly ms: number;
  readonly end: RequestEnd;
  /** of the answer; null: none was sent */
  readonly status: number | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** generated for a reply that nobody got whole */
  readonly wastedTokens: number;
  /** without those that only the connection is about; of a secret only its kind */
  readonly headers: Readonly<Record<string, string>>;
  /** name of the known page in its first picture, turned or not; null: none */
  readonly page: string | null;
  readonly body: unknown;
}

/** A line of `starts.ndjson`. */
export interface StartRecord {
  readonly pid: number;
  readonly port: number;
  readonly argv: readonly string[];
  readonly startedAtMs: number;
}

export interface Records {
  start(record: StartRecord): void;
  request(record: RequestRecord): void;
}

/** Appends at once: a process that is killed has lost nothing that was over. */
export function openRecords(folder: string | null): Records {
  if (folder === null) return { start() {}, request() {} };
  mkdirSync(folder, { recursive: true });
  const append = (file: string, line: object): void =>
    appendFileSync(join(folder, file), `${JSON.stringify(line)}\n`);
  return {
    start: (record) => append('starts.ndjson', record),
    request: (record) => append('requests.ndjson', record),
  };
}

/** Of the connection and of no interest. */
const UNTOLD = new Set(['host', 'connection', 'keep-alive', 'content-length', 'transfer-encoding']);

/** A secret is replaced by its kind, so that a record tells that one came and not which. */
export function toldHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const told = Object.entries(headers).filter(([name]) => !UNTOLD.has(name));
  return Object.fromEntries(
    told.map(([name, value]) => [name, name === 'authorization' ? kindOf(value) : String(value)]),
  );
}

function kindOf(authorization: string | string[] | undefined): string {
  return `${String(authorization).split(' ', 1)[0]} …`;
}
