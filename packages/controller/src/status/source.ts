import { setTimeout as sleep } from 'node:timers/promises';

interface SourceReading<T> {
  /** null = it never answered */
  readonly value: T | null;
  readonly ageMs: number | null;
  /** why the value is not of now; null = it is */
  readonly late: string | null;
}

/** One thing status is made of. A late one shows its last values with their age, never zeros. */
export interface Source<T> {
  readonly name: string;
  read(): Promise<SourceReading<T>>;
}

export function createSource<T>(options: {
  readonly name: string;
  readonly read: () => Promise<T>;
  readonly limitMs: number;
  readonly nowMs: () => number;
}): Source<T> {
  const { name, limitMs, nowMs } = options;
  let last: { value: T; atMs: number } | null = null;
  let running: Promise<string | null> | null = null;

  /** One reading at a time, however many ask: a source that hangs is not asked again before it lets go. */
  function start(): Promise<string | null> {
    running ??= options
      .read()
      .then(
        (value) => {
          last = { value, atMs: nowMs() };
          return null;
        },
        (error: unknown) => (error instanceof Error ? error.message : 'failed'),
      )
      .finally(() => {
        running = null;
      });
    return running;
  }

  return {
    name,
    async read() {
      const giveUp = new AbortController();
      const late = await Promise.race([
        start(),
        sleep(limitMs, `no answer within ${limitMs} ms`, { signal: giveUp.signal, ref: false }).catch(
          () => null,
        ),
      ]);
      giveUp.abort();
      if (last === null) return { value: null, ageMs: null, late: late ?? 'no answer yet' };
      return { value: last.value, ageMs: late === null ? 0 : Math.max(0, nowMs() - last.atMs), late };
    },
  };
}
