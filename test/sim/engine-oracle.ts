import { FIRST_REST_MS, LONGEST_REST_MS, STOOD_MS } from '../../packages/gateway/src/keeper-state.ts';
import { type EngineWorld, START_MS } from './engine-world.ts';

/** The longest rest, readings and processes that do not end, and attempts that fail before the last one. */
const DEAD_AT_MOST_MS = LONGEST_REST_MS + 60_000;
/** Until the news is looked at. */
const LOOK_MS = 600;
/** Between a rest and the launch. */
const LAUNCH_MS = 100;

/** Looks at the world after each step, from outside, and says which law is broken. */
export class EngineOracle {
  readonly #world: EngineWorld;
  #since = { state: '', atMs: 0 };
  #attemptsSeen = 0;
  #shortLives = 0;

  constructor(world: EngineWorld) {
    this.#world = world;
  }

  check(): void {
    this.#readyMeansRead();
    this.#nothingStays();
    this.#pagesAreCounted();
    this.#restsGrow();
    this.#faultIsOfTheLast();
  }

  #readyMeansRead(): void {
    const { keeper, child } = this.#world;
    const state = keeper.state();
    if (state !== 'ready' && state !== 'busy') return;
    if (!child?.isAlive) this.#world.broken(`ready: it is ${state} and its process has ended`);
    else if (child.pageReadMs === null) this.#world.broken(`ready: it is ${state} and has read no page`);
  }

  /** A start and a death end within a time; what is stopped, too. */
  #nothingStays(): void {
    const { keeper, time, isStopping, attempts } = this.#world;
    const [state, nowMs] = [keeper.state(), time.nowMs()];
    if (state !== this.#since.state) this.#since = { state, atMs: nowMs };
    // Between two looks it may have been started.
    const ms = nowMs - Math.max(this.#since.atMs, state === 'dead' ? (attempts.at(-1)?.atMs ?? 0) : 0);
    const mostMs = state === 'starting' ? START_MS + 10_000 : DEAD_AT_MOST_MS;
    if (!isStopping && (state === 'starting' || state === 'dead') && ms > mostMs)
      this.#world.broken(`left: it is ${state} for ${ms} ms`);
  }

  #pagesAreCounted(): void {
    const { pages, pod } = this.#world;
    const twice = pages.find(({ ends }) => ends > 1);
    if (twice) this.#world.broken(`pages: ${twice.id} ended twice`);
    const open = pages.filter(({ ends }) => ends === 0).length;
    const inside = pod.gate.running() + pod.gate.waiting();
    if (open !== inside) this.#world.broken(`pages: ${open} are open and ${inside} in the pod`);
  }

  #restsGrow(): void {
    const { attempts } = this.#world;
    for (; this.#attemptsSeen < attempts.length; this.#attemptsSeen += 1) {
      const [before, next] = [attempts[this.#attemptsSeen - 1], attempts[this.#attemptsSeen]];
      if (!before || !next) continue;
      const stoodMs = stoodOf(before.child);
      this.#shortLives = stoodMs < STOOD_MS ? this.#shortLives + 1 : 0;
      const rest = (lives: number) => Math.min(FIRST_REST_MS * 2 ** lives, LONGEST_REST_MS);
      const restedMs = next.atMs - (before.endedMs ?? next.atMs);
      const isDoubtful = Math.abs(stoodMs - STOOD_MS) < LOOK_MS;
      const leastMs = isDoubtful ? rest(0) : rest(this.#shortLives);
      const mostMs = isDoubtful ? LONGEST_REST_MS : rest(this.#shortLives);
      // News of a death is looked for at times, so one that left nobody rests a little longer; one that is ended twice, too.
      const slackMs = LAUNCH_MS + LOOK_MS + 1_000 + 10_000;
      if (restedMs < leastMs - 1) this.#world.broken(`rest: ${restedMs} ms, expected ${leastMs}`);
      if (restedMs > mostMs + slackMs) this.#world.broken(`rest: ${restedMs} ms, expected ${mostMs}`);
      if (isDoubtful && restedMs < rest(1)) this.#shortLives = 0;
    }
  }

  #faultIsOfTheLast(): void {
    const { keeper, children } = this.#world;
    const [, told] = /child (\d+)/.exec(keeper.fault() ?? '') ?? [];
    if (told === undefined) return;
    const failed = children.filter(({ n }) => n > Number(told) && n < children.length);
    const later = failed.find(
      ({ pageReadMs, isMisfit, fate }) => pageReadMs !== null || isMisfit || fate.outOfMemory,
    );
    if (later) this.#world.broken(`fault: of child ${told}, and child ${later.n} came after it`);
  }
}

function stoodOf(child: EngineWorld['children'][number] | null): number {
  if (!child || child.pageReadMs === null) return 0;
  return Math.max(0, (child.doneForMs ?? child.pageReadMs) - child.pageReadMs);
}
