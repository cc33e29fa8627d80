interface Entry {
  readonly atMs: number;
  readonly n: number;
  run: (() => void) | null;
}

/**
 * Time that jumps from one event to the next. Events of the same instant run in the order in which they were asked for, so a
 * seed is a story. `nowMs` is the true time; what a process takes for the time is its machine's business.
 */
export class VirtualClock {
  nowMs: number;
  #n = 0;
  /** a binary heap, earliest first */
  readonly #heap: Entry[] = [];

  constructor(startMs: number) {
    this.nowMs = startMs;
  }

  /** answers how to cancel it */
  later(ms: number, run: () => void): () => void {
    this.#n += 1;
    const entry: Entry = { atMs: this.nowMs + Math.max(0, ms), n: this.#n, run };
    this.#push(entry);
    return () => {
      entry.run = null;
    };
  }

  /** Runs the next event that is due by `untilMs`; false: there is none, and it is `untilMs` now. */
  step(untilMs: number): boolean {
    for (let next = this.#heap[0]; next !== undefined && next.atMs <= untilMs; next = this.#heap[0]) {
      this.#pop();
      if (next.run === null) continue;
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.run();
      return true;
    }
    this.nowMs = Math.max(this.nowMs, untilMs);
    return false;
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (parent === undefined || isBefore(parent, entry)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const [a, b] = [heap[left], heap[left + 1]];
      if (a === undefined) break;
      const [child, to] = b !== undefined && isBefore(b, a) ? [b, left + 1] : [a, left];
      if (!isBefore(child, last)) break;
      heap[at] = child;
      at = to;
    }
    heap[at] = last;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.n < b.n);
}

/**
 * Resolves when every promise that can go on has gone on: Node runs a tick that a microtask asked for only once no
 * microtask is left. No turn of the event loop is taken, so no real time or I/O can get in between.
 */
export function settleMicrotasks(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}
