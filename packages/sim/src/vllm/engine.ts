import { Batch, type BatchLimits, type Emission, type Sequence } from './batch.ts';
import type { CardSpeed } from './load-model.ts';
import type { Piece } from './pieces.ts';

/** Who gets the tokens of a sequence. */
export type Listener = (emission: Emission<Piece>) => void;

/** Timers of Node do not fire more often. */
const LEAST_WAIT_MS = 1;
/** A look at 512 streams costs a core some milliseconds. Looks as rare as this leave it most of its time; each then brings several tokens. */
const REST_PER_WORK = 2;

/** The batch with a clock: one timer for all sequences. */
export class Engine {
  readonly batch: Batch<Piece>;
  readonly #listeners = new Map<string, Listener>();
  #timer: NodeJS.Timeout | null = null;
  #restUntilMs = 0;

  constructor(limits: BatchLimits, speed: CardSpeed) {
    this.batch = new Batch(limits, speed);
  }

  add(sequence: Sequence<Piece>, listener: Listener): void {
    this.#listeners.set(sequence.id, listener);
    // What is due until now is due for those that were there.
    this.#deliver(performance.now());
    this.batch.add(sequence, performance.now());
    this.#wake();
  }

  /** Frees the sequence; tells how many tokens it had got. */
  abort(id: string): number {
    this.#listeners.delete(id);
    const generated = this.batch.abort(id);
    this.#wake();
    return generated;
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#listeners.clear();
  }

  #wake(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const nextMs = this.batch.nextMs();
    const now = performance.now();
    this.#timer =
      nextMs === null
        ? null
        : setTimeout(() => this.#tick(), Math.max(LEAST_WAIT_MS, nextMs - now, this.#restUntilMs - now));
  }

  #tick(): void {
    const startMs = performance.now();
    this.#deliver(startMs);
    const overMs = performance.now();
    this.#restUntilMs = overMs + (overMs - startMs) * REST_PER_WORK;
    this.#wake();
  }

  #deliver(nowMs: number): void {
    for (const emission of this.batch.advance(nowMs)) {
      const listener = this.#listeners.get(emission.id);
      if (emission.finished !== null) this.#listeners.delete(emission.id);
      listener?.(emission);
    }
  }
}
