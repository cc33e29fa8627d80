import type { ModelPath } from '@pagefleet/contract';
import {
  broken,
  type Dispatch,
  type DispatchOutcome,
  failed,
  headersOf,
  refused,
  secretsOf,
  startStop,
} from '../forward/dispatch.ts';
import { parseRefusal } from '../forward/observe-failure.ts';
import { type OpenAnswer, readBounded } from '../forward/pod-client.ts';
import type { PodEntry } from '../forward/pod-table.ts';
import { bodyOf } from '../forward/send-page.ts';
import type { HeldBytes } from '../read/held-bytes.ts';
import type { ChatOutput } from './chat-output.ts';
import { isForClient } from './decide-answer.ts';
import { createUsageScan, type Usage } from './usage-scan.ts';

/** One request to a model server, as it came, and where its answer goes. */
export interface ChatRequest {
  readonly path: ModelPath;
  readonly contentType: string;
  readonly body: HeldBytes;
  readonly output: ChatOutput;
  onUsage(usage: Usage): void;
}

/** What a server says against a request is a few lines; it is held until it is known to be the client’s. */
const MAX_REFUSAL_BYTES = 1024 * 1024;

/**
 * Passes one request to one pod once and its answer back, as bytes both ways. Never rejects. Before the first byte
 * of the answer any failure may be tried elsewhere; after it none.
 */
export async function sendChat(chat: ChatRequest, dispatch: Dispatch): Promise<DispatchOutcome<null>> {
  const stop = startStop(dispatch);
  const { pod } = dispatch;
  try {
    if (stop.reason) return failed({ kind: stop.reason });
    const answer = await pod.client.open({
      path: chat.path,
      headers: {
        ...headersOf(dispatch, dispatch.timeoutMs),
        'content-type': chat.contentType,
        'content-length': String(chat.body.size),
      },
      body: bodyOf(chat.body),
      timeoutMs: stop.transportTimeoutMs,
      signal: stop.signal,
    });
    const outcome = isSuccess(answer)
      ? await passOn(answer, chat)
      : await passRefusal(answer, chat.output, pod);
    return stop.reason ? final(failed({ kind: stop.reason }), chat) : outcome;
  } catch (error) {
    return final(broken(error, stop.reason), chat);
  } finally {
    stop.clear();
  }
}

async function passOn(answer: OpenAnswer, chat: ChatRequest): Promise<DispatchOutcome<null>> {
  const { output } = chat;
  if (!output.begin(answer)) return { ...failed({ kind: 'bad_answer' }), isFinal: true };
  const scan = createUsageScan();
  for await (const chunk of answer.body) {
    scan.add(chunk);
    await output.write(chunk);
  }
  scan.end();
  if (scan.usage !== null) chat.onUsage(scan.usage);
  const isWhole = !isEventStream(answer) || scan.isDone || scan.hasError;
  // A stream without its mark passes for a short reply at the official client (contract 2.1).
  if (!isWhole) return { ...failed({ kind: 'bad_answer' }), isFinal: true };
  output.end();
  return READ;
}

async function passRefusal(
  answer: OpenAnswer,
  output: ChatOutput,
  pod: PodEntry,
): Promise<DispatchOutcome<null>> {
  const { status, contentType } = answer;
  const bytes = await readBounded(answer.body, MAX_REFUSAL_BYTES);
  const text = bytes.toString('utf8');
  const secrets = secretsOf(pod);
  const { code } = parseRefusal(text, secrets);
  if (!isForClient(answer, code) || secrets.some((secret) => text.includes(secret))) {
    return refused(status, text, pod);
  }
  if (!output.begin({ status, contentType, length: bytes.length }))
    return { ...refused(status, text, pod), isFinal: true };
  await output.write(bytes);
  output.end();
  return READ;
}

const READ = { kind: 'read', result: null } as const;

function final<Outcome extends DispatchOutcome<null>>(outcome: Outcome, { output }: ChatRequest): Outcome {
  return output.isBegun ? { ...outcome, isFinal: true } : outcome;
}

function isSuccess({ status }: OpenAnswer): boolean {
  return status >= 200 && status < 300;
}

function isEventStream({ contentType }: OpenAnswer): boolean {
  return contentType.startsWith('text/event-stream');
}
