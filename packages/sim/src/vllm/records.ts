import { appendFileSync, mkdirSync } from 'node:fs';
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
