import { monotonicMs } from './monotonic.ts';

export interface Mailbox {
  /**
   * Runs `fn` when everything given before has ended; never two at once. A task that fails rejects its own promise and
   * stops nobody. A task must not await another task of the same mailbox: it would wait for itself.
   */
  run<T>(name: string, fn: () => T | Promise<T>): Promise<T>;
  /** tasks that wait or run now */
  readonly depth: number;
}

export interface MailboxOptions {
  /** a task that takes longer is named, while it still runs, so that one that hangs is seen too */
  readonly slowMs?: number;
  readonly onSlow?: (name: string, runningMs: number, depth: number) => void;
}

/** The serial owner of a piece of state: whoever changes the state does so inside `run`. */
export function createMailbox(options: MailboxOptions = {}): Mailbox {
  const { slowMs = 1_000, onSlow } = options;
  let depth = 0;
  let tail: Promise<unknown> = Promise.resolve();

  async function turn<T>(name: string, fn: () => T | Promise<T>): Promise<T> {
    const startedMs = monotonicMs();
    const timer = onSlow && setInterval(() => onSlow(name, monotonicMs() - startedMs, depth), slowMs);
    timer?.unref();
    try {
      return await fn();
    } finally {
      clearInterval(timer);
      depth -= 1;
    }
  }

  return {
    run<T>(name: string, fn: () => T | Promise<T>): Promise<T> {
      depth += 1;
      const result = tail.then(() => turn(name, fn));
      tail = result.catch(() => undefined);
      return result;
    },
    get depth() {
      return depth;
    },
  };
}
