import type { Worker } from 'node:worker_threads';

const LOOK_EVERY_MS = 1_000;

type Drawer = Pick<Worker, 'threadId' | 'cpuUsage'>;

/** The time of a core that one drawing may take. */
export interface DrawingLimit {
  /** The thread that draws writes its number there, of `worker_threads.threadId`; 0: none has begun. */
  readonly thread: Int32Array;
  /** Raised when the drawing has taken too long. */
  readonly signal: AbortSignal;
  clear(): void;
}

/**
 * A drawing is one synchronous call, so its thread is looked at from outside. Its own time counts, not the clock: on a busy
 * machine a thread waits for a core, and no page is worse for that.
 */
export function limitDrawing(threads: () => readonly Drawer[], maxCpuMs: number): DrawingLimit {
  const thread = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const tooLong = new AbortController();
  let beganAtMs: number | null = null;
  const look = async (): Promise<void> => {
    const number = Atomics.load(thread, 0);
    const drawer = number === 0 ? undefined : threads().find(({ threadId }) => threadId === number);
    // A thread that ends has no usage any more, and no drawing.
    const usage = await drawer?.cpuUsage().catch(() => undefined);
    if (usage === undefined) return;
    const usedMs = (usage.user + usage.system) / 1_000;
    beganAtMs ??= usedMs;
    if (usedMs - beganAtMs >= maxCpuMs) tooLong.abort();
  };
  const timer = setInterval(() => void look(), Math.min(LOOK_EVERY_MS, maxCpuMs / 4));
  return { thread, signal: tooLong.signal, clear: () => clearInterval(timer) };
}
