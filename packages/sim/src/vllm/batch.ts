import { type CardSpeed, stepMs } from './load-model.ts';

/** One request as the engine sees it. Its tokens are pieces of whatever kind the caller makes of them. */
export interface Sequence<Piece> {
  readonly id: string;
  readonly promptTokens: number;
  readonly maxTokens: number;
  /** no token comes before this moment */
  readonly notBeforeMs: number;
  /** the token at this place of the reply; null: the reply ends before it */
  pieceAt(index: number): Piece | null;
}

/** What a sequence got since the last look. */
export interface Emission<Piece> {
  readonly id: string;
  readonly pieces: readonly Piece[];
  /** null: it goes on */
  readonly finished: 'stop' | 'length' | null;
}

export interface BatchLimits {
  /** sequences that run at once; the others wait, however many they are */
  readonly maxSequences: number;
  /** tokens that all running sequences hold together */
  readonly kvTokens: number;
  /** tokens of one step */
  readonly maxBatchedTokens: number;
}

interface Held<Piece> {
  readonly sequence: Sequence<Piece>;
  generated: number;
  /** tokens that are still to be read before the next one is generated */
  unread: number;
  startedMs: number | null;
}

/** More than this behind the clock is not caught up: a stopped process does not generate meanwhile. */
const MAX_LAG_MS = 250;

/**
 * Continuous batching, as vLLM's scheduler does it: sequences join and leave between steps, prompts are read in chunks
 * beside the generation, and when the cache is full the youngest one is thrown out and later read again. It has no clock:
 * `advance` runs the steps that are over by a given moment.
 */
export class Batch<Piece> {
  limits: BatchLimits;
  speed: CardSpeed;
  /** order of admission: the youngest last */
  readonly #running = new Map<string, Held<Piece>>();
  #waiting: Held<Piece>[] = [];
  #clockMs = 0;
  preemptions = 0;
  generatedTokens = 0;
  promptTokens = 0;
  maxRunning = 0;

  constructor(limits: BatchLimits, speed: CardSpeed) {
    this.limits = limits;
    this.speed = speed;
  }

  get running(): number {
    return this.#running.size;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** 0 to 1 of the cache */
  get kvUsage(): number {
    return Math.min(1, this.#heldTokens() / this.limits.kvTokens);
  }

  /** When the sequence left the queue; null: it never did, or is not here. */
  startedMs(id: string): number | null {
    return this.#running.get(id)?.startedMs ?? null;
  }

  add(sequence: Sequence<Piece>, nowMs: number): void {
    if (this.#running.size === 0 && this.#waiting.length === 0) this.#clockMs = nowMs;
    this.#waiting.push({ sequence, generated: 0, unread: sequence.promptTokens, startedMs: null });
    this.#admit();
  }

  /** Frees what a sequence holds; tells how many tokens it had got. */
  abort(id: string): number {
    const held = this.#running.get(id) ?? this.#waiting.find(({ sequence }) => sequence.id === id);
    this.#running.delete(id);
    this.#waiting = this.#waiting.filter(({ sequence }) => sequence.id !== id);
    this.#admit();
    return held?.generated ?? 0;
  }

  /** When the next step is over, if nothing else comes; null: there is nothing to do. */
  nextMs(): number | null {
    if (this.#running.size === 0) return null;
    const step = this.#planStep();
    return step === null ? this.#firstRelease() : this.#clockMs + stepMs(step, this.speed);
  }

  /** Runs the steps that are over by now. */
  advance(nowMs: number): Emission<Piece>[] {
    const emitted = new Map<string, { pieces: Piece[]; finished: 'stop' | 'length' | null }>();
    this.#clockMs = Math.max(this.#clockMs, nowMs - MAX_LAG_MS);
    while (this.#running.size > 0) {
      this.#makeRoom();
      const step = this.#planStep();
      const overMs = step === null ? this.#firstRelease() : this.#clockMs + stepMs(step, this.speed);
      if (overMs > nowMs) break;
      if (step !== null) this.#runStep(emitted);
      this.#clockMs = overMs;
      this.#admit();
    }
    return [...emitted].map(([id, { pieces, finished }]) => ({ id, pieces, finished }));
  }

  #heldTokens(): number {
    let tokens = 0;
    for (const { sequence, generated } of this.#running.values()) tokens += sequence.promptTokens + generated;
    return tokens;
  }

  #admit(): void {
    let heldTokens = this.#heldTokens();
    while (this.#running.size < this.limits.maxSequences) {
      const [next] = this.#waiting;
      if (next === undefined) break;
      const needed = next.sequence.promptTokens + next.generated + 1;
      // One alone always runs: what cannot fit at all was refused before.
      if (this.#running.size > 0 && heldTokens + needed > this.limits.kvTokens) break;
      heldTokens += needed;
      this.#waiting.shift();
      next.startedMs ??= this.#clockMs;
      this.#running.set(next.sequence.id, next);
    }
    this.maxRunning = Math.max(this.maxRunning, this.#running.size);
  }

  /** Throws out the youngest until each of the others can get a token. */
  #makeRoom(): void {
    while (this.#running.size > 1 && this.#heldTokens() + this.#running.size > this.limits.kvTokens) {
      const youngest = [...this.#running.values()].at(-1);
      if (youngest === undefined) return;
      this.#running.delete(youngest.sequence.id);
      youngest.unread = youngest.sequence.promptTokens + youngest.generated;
      this.#waiting.unshift(youngest);
      this.preemptions += 1;
    }
  }

  /** null: every running sequence is held back by its script. */
  #planStep(): { sequences: number; prefillTokens: number } | null {
    let sequences = 0;
    let unread = 0;
    for (const held of this.#running.values()) {
      if (held.unread > 0) unread += held.unread;
      else if (held.sequence.notBeforeMs <= this.#clockMs) sequences += 1;
    }
    const prefillTokens = Math.min(unread, this.#prefillBudget(sequences));
    return sequences + prefillTokens === 0 ? null : { sequences, prefillTokens };
  }

  #prefillBudget(sequences: number): number {
    return Math.max(1, this.limits.maxBatchedTokens - sequences);
  }

  #firstRelease(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { sequence } of this.#running.values()) first = Math.min(first, sequence.notBeforeMs);
    return Math.max(first, this.#clockMs);
  }

  #runStep(emitted: Map<string, { pieces: Piece[]; finished: 'stop' | 'length' | null }>): void {
    const ready = [...this.#running.values()].filter(
      ({ unread, sequence }) => unread === 0 && sequence.notBeforeMs <= this.#clockMs,
    );
    let budget = this.#prefillBudget(ready.length);
    for (const held of this.#running.values()) {
      const read = Math.min(held.unread, budget);
      held.unread -= read;
      budget -= read;
      this.promptTokens += read;
    }
    for (const held of ready) this.#generate(held, emitted);
  }

  #generate(
    held: Held<Piece>,
    emitted: Map<string, { pieces: Piece[]; finished: 'stop' | 'length' | null }>,
  ): void {
    const { sequence } = held;
    const emission = emitted.get(sequence.id) ?? { pieces: [], finished: null };
    emitted.set(sequence.id, emission);
    const piece = held.generated < sequence.maxTokens ? sequence.pieceAt(held.generated) : null;
    if (piece !== null) {
      emission.pieces.push(piece);
      held.generated += 1;
      this.generatedTokens += 1;
    }
    if (held.generated >= sequence.maxTokens) emission.finished = 'length';
    else if (sequence.pieceAt(held.generated) === null) emission.finished = 'stop';
    if (emission.finished !== null) this.#running.delete(sequence.id);
  }
}
