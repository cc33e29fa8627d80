import type { ServerExit, ServerProcess } from '../../packages/engines/src/server/launch-server.ts';
import type { Timeline } from './engine-timeline.ts';

/** What becomes of one simulated model server; drawn when it is launched. */
export interface Fate {
  /** until it answers */
  readonly bootMs: number;
  /** it ends by itself so long after its start; null: it does not */
  readonly exitsAfterMs: number | null;
  readonly outOfMemory: boolean;
  /** `failing`: answers what is no reply, so many times; `silent`: never answers */
  readonly trial: { readonly kind: 'reads' | 'silent'; readonly ms: number; readonly failing: number };
  readonly isNoModelServer: boolean;
  /** it ends only when it is killed */
  readonly ignoresTerm: boolean;
  /** some of its group outlive it */
  readonly leavesOthers: boolean;
  /** so many attempts to end it fail first */
  readonly undying: number;
  /** what it says to a probe takes so long */
  readonly answerMs: number;
}

export const GOOD: Fate = {
  ...{ bootMs: 2_000, exitsAfterMs: null, outOfMemory: false, isNoModelServer: false, ignoresTerm: false },
  ...{ trial: { kind: 'reads', ms: 500, failing: 0 }, leavesOthers: false, undying: 0, answerMs: 0 },
};

const TERM_MS = 50;
const KILLED_AFTER_MS = 8_000;

/** A simulated process group with a model server as its leader, and what a bystander knows of it. */
export class Child {
  readonly n: number;
  readonly fate: Fate;
  readonly bornMs: number;
  /** of its group somebody lives */
  isThere = true;
  isAlive = true;
  isHung = false;
  /** so many of the next probes are told that its engine is dead */
  sick = 0;
  answerMs: number;
  pageReadMs: number | null = null;
  failedTrials = 0;
  toldSick = 0;
  isCondemned = false;
  isMisfit = false;
  /** when it first deserved its end */
  doneForMs: number | null = null;
  goneMs: number | null = null;
  readonly gone = Promise.withResolvers<void>();
  readonly #time: Timeline;
  readonly #exit = Promise.withResolvers<ServerExit>();
  readonly #died = new AbortController();
  #awake = Promise.withResolvers<void>();
  #undying: number;

  constructor(n: number, fate: Fate, time: Timeline) {
    this.n = n;
    this.fate = fate;
    this.bornMs = time.nowMs();
    this.answerMs = fate.answerMs;
    this.#undying = fate.undying;
    this.#time = time;
    if (fate.exitsAfterMs !== null) void time.sleep(fate.exitsAfterMs).then(() => this.exit(1));
  }

  process(onStop: () => void): ServerProcess {
    return {
      pid: this.n,
      exited: this.#exit.promise,
      tail: () => `child ${this.n}: ${this.fate.outOfMemory ? 'CUDA out of memory' : 'ended'}`,
      stop: async () => {
        onStop();
        const isDeaf = this.isAlive && (this.fate.ignoresTerm || this.isHung);
        if (this.isThere) await this.#time.sleep(isDeaf ? KILLED_AFTER_MS : TERM_MS);
        if (this.isThere && this.#undying > 0) {
          this.#undying -= 1;
          throw new Error(`the process group ${this.n} does not end`);
        }
        this.exit(null);
        this.leave();
      },
    };
  }

  exit(code: number | null): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.doneFor();
    this.#exit.resolve({
      code,
      how: code === null ? 'it was ended by SIGKILL' : `it ended with code ${code}`,
    });
    this.#died.abort(new Error('socket hang up'));
    this.#awake.resolve();
    if (!this.fate.leavesOthers) this.leave();
  }

  leave(): void {
    if (!this.isThere) return;
    this.isThere = false;
    this.gone.resolve();
  }

  doneFor(): void {
    this.doneForMs ??= this.#time.nowMs();
  }

  hang(): void {
    if (this.isHung) return;
    this.isHung = true;
    this.#awake = Promise.withResolvers<void>();
  }

  goOn(): void {
    this.isHung = false;
    this.#awake.resolve();
  }

  async probe(timeoutMs: number): Promise<'up' | 'broken' | 'missed'> {
    const answer = await this.#answer(timeoutMs);
    this.toldSick = answer === 'broken' && this.pageReadMs !== null ? this.toldSick + 1 : 0;
    if (this.toldSick >= 3) this.doneFor();
    return answer;
  }

  async #answer(timeoutMs: number): Promise<'up' | 'broken' | 'missed'> {
    if (!this.isAlive || this.#time.nowMs() < this.bornMs + this.fate.bootMs) return 'missed';
    if (this.isHung || this.answerMs > timeoutMs) {
      await this.#time.sleep(timeoutMs);
      return 'missed';
    }
    if (this.answerMs > 0) await this.#time.sleep(this.answerMs);
    if (!this.isAlive) return 'missed';
    if (this.sick === 0) return 'up';
    this.sick -= 1;
    return 'broken';
  }

  /** Waits for an answer that takes so long; a hung one takes longer, a dead one breaks off. */
  async during(ms: number, signal: AbortSignal): Promise<void> {
    const ending = AbortSignal.any([signal, this.#died.signal]);
    await this.#time.sleep(ms, ending);
    while (this.isHung) {
      const ended = new Promise<never>((_, reject) =>
        ending.addEventListener('abort', () => reject(ending.reason), { once: true }),
      );
      await Promise.race([this.#awake.promise, ended]);
      ending.throwIfAborted();
    }
  }
}
