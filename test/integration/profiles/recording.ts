import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OcrBlock, type OcrResponse, PROFILE_NAMES, type ProfileName } from '@pagefleet/contract';
import { repoRoot } from '@pagefleet/runtime';
import type { RequestRecord } from '@pagefleet/sim/vllm';
import { parse, stringify } from 'yaml';
import type { PathAnswer, Placement } from './reading-paths.ts';

/** What is kept of a situation: the requests that reached the model server, exactly, and what the client got. */
export interface Recording {
  readonly requests: readonly unknown[];
  readonly answer: unknown;
}

/** A recording in which the answers of the placements differ has both. */
interface KeptRecording {
  readonly requests: readonly unknown[];
  readonly answer?: unknown;
  readonly answers?: Readonly<Record<Placement, unknown>>;
}

/** `RECORD_PROFILES=1` writes the recordings instead of comparing with them. */
export const isRecording = process.env.RECORD_PROFILES === '1';

const FOLDER = join(import.meta.dirname, 'recordings');

export function readRecording(profile: ProfileName, name: string, placement: Placement): Recording {
  const file = fileOf(profile, name);
  if (!existsSync(file)) throw new Error(`no recording ${file}: RECORD_PROFILES=1 writes it`);
  const { requests, answer, answers } = parse(readFileSync(file, 'utf8')) as KeptRecording;
  return { requests, answer: answers === undefined ? answer : answers[placement] };
}

/** The requests are those of the pod: the worker's have to be the same. */
export function writeRecording(
  profile: ProfileName,
  name: string,
  { pod, worker }: Readonly<Record<Placement, Recording>>,
): void {
  const isSame = JSON.stringify(pod.answer) === JSON.stringify(worker.answer);
  const kept: KeptRecording = {
    requests: pod.requests,
    ...(isSame ? { answer: pod.answer } : { answers: { pod: pod.answer, worker: worker.answer } }),
  };
  mkdirSync(join(FOLDER, profile), { recursive: true });
  writeFileSync(fileOf(profile, name), stringify(kept, { lineWidth: 0, aliasDuplicateObjects: false }));
}

function fileOf(profile: ProfileName, name: string): string {
  return join(FOLDER, profile, `${name}.yaml`);
}

/**
 * Exact but for two things that stand elsewhere: pictures are told by format and size, and our own prompt by its file. Of the
 * requests after the first only what is not as in the first is written.
 */
export function toRecorded(requests: readonly RequestRecord[]): object[] {
  const [first, ...others] = requests.map(({ path, headers, body }) => {
    const { messages, ...fields } = body as { readonly messages: readonly Message[] };
    return { path, headers, ...fields, messages: messages.map(toldMessage) };
  });
  if (first === undefined) return [];
  return [first, ...others.map((request) => ({ as_the_first_but: differenceOf(first, request) }))];
}

function differenceOf(first: object, other: object): object {
  const before = new Map<string, unknown>(Object.entries(first));
  const after = new Map<string, unknown>(Object.entries(other));
  const names = new Set([...before.keys(), ...after.keys()]);
  const changed = [...names].filter(
    (name) => JSON.stringify(before.get(name)) !== JSON.stringify(after.get(name)),
  );
  return Object.fromEntries(changed.map((name) => [name, after.has(name) ? after.get(name) : '(left out)']));
}

interface Message {
  readonly content: unknown;
}
interface Part {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: {
    readonly url: { readonly format: string; readonly width: number; readonly height: number };
  };
}

function toldMessage(message: Message): object {
  if (!Array.isArray(message.content)) return message;
  return { ...message, content: (message.content as Part[]).map(toldPart) };
}

function toldPart(part: Part): object {
  if (part.type === 'text') return { ...part, text: PROMPTS.get(part.text ?? '') ?? part.text };
  if (part.image_url === undefined) return part;
  const { format, width, height } = part.image_url.url;
  return {
    ...part,
    image_url: {
      ...part.image_url,
      url: `data URL of a ${format}, ${width} x ${height} pixels; its digest is not kept`,
    },
  };
}

const PROMPTS: ReadonlyMap<string, string> = new Map(
  PROFILE_NAMES.map((profile) => {
    const file = `packages/engines/prompts/${profile}/page.txt`;
    return [readFileSync(join(repoRoot(), file), 'utf8').trim(), `exactly the text of ${file}`] as const;
  }),
);

/** The page as the client got it, a line for each block; or why it got none. */
export function toAnswer({ status, body }: PathAnswer): object {
  const { pages, code, message } = body as Partial<OcrResponse> & { code?: string; message?: string };
  if (pages === undefined) return { status, code, message };
  const [page, ...more] = pages;
  if (page === undefined || more.length > 0) throw new Error(`not one page: ${JSON.stringify(body)}`);
  return { status, page: { ...page, blocks: page.blocks?.map(toldBlock) ?? [] } };
}

function toldBlock({ type, content, ...box }: OcrBlock): string {
  const corners = [box.top_left_x, box.top_left_y, box.bottom_right_x, box.bottom_right_y];
  return `${type} at ${corners.join(' ')}: ${content}`;
}
