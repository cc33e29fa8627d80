/** A clock that stands still until it is advanced; whoever waits on it is woken in order, each one's consequences first. */
export class Timeline {
  #nowMs = 0;
  #waiting: { readonly atMs: number; readonly wake: () => void }[] = [];

  readonly nowMs = (): number => this.#nowMs;

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const giveUp = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== one);
        reject(signal?.reason);
      };
      const one = {
        atMs: this.#nowMs + ms,
        wake: () => {
          signal?.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      const later = this.#waiting.findIndex(({ atMs }) => atMs > one.atMs);
      this.#waiting.splice(later < 0 ? this.#waiting.length : later, 0, one);
      signal?.addEventListener('abort', giveUp, { once: true });
    });

  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    for (let next = this.#waiting[0]; next && next.atMs <= endMs; next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.wake();
      await settle();
    }
    this.#nowMs = endMs;
  }
}

/** Until nothing more follows from what happened. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
