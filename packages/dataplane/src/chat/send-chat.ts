import type { ModelPath } from '@pagefleet/contract';
import {
  broken,
  type Dispatch,
  type DispatchOutcome,
  type DispatchStop,
  failed,
  headersOf,
  refused,
  showsPod,
  startStop,
} from '../forward/dispatch.ts';
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

/** A pod whose answer came on, or waited for its client, so short a time ago is at work: R-040's patience with a busy engine. */
const AT_WORK_MS = 15_000;
/** The pod counts its own time; timers fire up to a millisecond early. */
const CLOCKS_DIFFER_MS = 50;

/** What a server says against a request is a few lines; it is held until it is known to be the client’s. */
const MAX_REFUSAL_BYTES = 1024 * 1024;

/**
 * Passes one request to one pod once and its answer back, as bytes both ways. Never rejects. Before the first byte
 * of the answer any failure may be tried elsewhere; after it none.
 */
export async function sendChat(chat: ChatRequest, dispatch: Dispatch): Promise<DispatchOutcome<null>> {
  const stop = startStop(dispatch);
  const { pod } = dispatch;
  const course = startCourse(dispatch);
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
      ? await passOn(answer, { chat, stop, course })
      : await passRefusal(answer, chat.output, pod);
    return stop.reason ? final(failed({ kind: stop.reason }), chat) : outcome;
  } catch (error) {
    const isOverrun = stop.reason !== 'client_gone' && course.hasOverrun();
    return final(isOverrun ? failed({ kind: 'overran' }) : broken(error, stop.reason), chat);
  } finally {
    stop.clear();
  }
}

/** How far the answer of a dispatch is. */
interface Course {
  /** The answer came on just now, or its client took some of it. */
  moved(): void;
  /** Its time is over and it was still moving: that says nothing about the pod. */
  hasOverrun(): boolean;
}

function startCourse({ timeoutMs }: Dispatch): Course {
  const overAtMs = performance.now() + timeoutMs - CLOCKS_DIFFER_MS;
  let movedAtMs = Number.NEGATIVE_INFINITY;
  return {
    moved() {
      movedAtMs = performance.now();
    },
    hasOverrun() {
      const nowMs = performance.now();
      return nowMs >= overAtMs && nowMs - movedAtMs < AT_WORK_MS;
    },
  };
}

interface Passage {
  readonly chat: ChatRequest;
  readonly stop: DispatchStop;
  readonly course: Course;
}

async function passOn(answer: OpenAnswer, { chat, stop, course }: Passage): Promise<DispatchOutcome<null>> {
  const { output } = chat;
  if (!output.begin(answer)) return { ...failed({ kind: 'bad_answer' }), isFinal: true };
  const scan = createUsageScan();
  for await (const chunk of answer.body) {
    scan.add(chunk);
    await output.write(chunk, stop.signal);
    course.moved();
  }
  stop.signal.throwIfAborted();
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
  const outcome = refused(status, text, pod);
  if (!isForClient(answer, outcome.refusal?.code ?? null) || showsPod(text, pod)) return outcome;
  if (!output.begin({ status, contentType, length: bytes.length })) return { ...outcome, isFinal: true };
  // The pod has said all: its slot does not wait for the client.
  void output.write(bytes);
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
