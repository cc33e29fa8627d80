import { type Fate, GOOD } from './engine-child.ts';
import type { EngineWorld } from './engine-world.ts';

const PAUSES_MS = [5, 40, 300, 1_000, 1_000, 3_000, 6_000, 20_000, 65_000];

/** What becomes of the next child; null: it cannot even be started. */
export function drawFate(random: () => number): Fate | null {
  const is = (share: number): boolean => random() < share;
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  if (is(0.08)) return null;
  const fails = is(0.2);
  return {
    bootMs: is(0.03) ? 10 * 60_000 : pick([50, 2_000, 2_000, 12_000, 40_000]),
    exitsAfterMs: fails ? pick([0, 100, 1_900, 2_200, 30_000]) : null,
    outOfMemory: fails && is(0.5),
    trial: {
      kind: is(0.02) ? 'silent' : 'reads',
      ms: is(0.04) ? 170_000 : pick([5, 500, 4_000]),
      failing: is(0.15) ? pick([1, 2, 3, 9]) : 0,
    },
    isNoModelServer: is(0.04),
    ignoresTerm: is(0.1),
    leavesOthers: is(0.2),
    undying: is(0.08) ? pick([1, 3]) : 0,
    answerMs: is(0.1) ? pick([2_000, 5_000, 20_000]) : 0,
  };
}

/** Something happens to the engine, its callers or the machine; then time passes. Calls `check` in between. */
export async function disturb(world: EngineWorld, random: () => number, check: () => void): Promise<void> {
  const is = (share: number): boolean => random() < share;
  const { child, pages } = world;
  if (is(0.5)) world.sendPage();
  if (is(0.2)) world.sendPage();
  const page = pages[Math.floor(random() * pages.length)];
  if (page && is(0.1)) page.hangUp();
  if (page && is(0.1)) void world.pod.register.cancel(page.id);
  // A second caller asks for the start of the same engine.
  if (is(0.1))
    world.engines
      .at(-1)
      ?.start()
      .catch(() => undefined);
  if (is(0.05)) world.isDiskFull = !world.isDiskFull;
  if (child && is(0.12)) child.exit(null);
  if (child && is(0.1)) child.hang();
  if (child && is(0.15)) child.goOn();
  if (child && is(0.08)) child.sick = Math.ceil(random() * 4);
  if (child && is(0.05)) child.answerMs = is(0.5) ? 0 : 5_000;
  if (is(0.02)) world.stuckPages = 1;
  if (is(0.03)) world.condemn();
  if (is(0.01)) world.stop();
  if (world.isStopping && is(0.3)) world.stop();
  for (let waits = 0; waits < 2; waits += 1) {
    await world.advance(PAUSES_MS[Math.floor(random() * PAUSES_MS.length)] ?? 0);
    check();
  }
}

/** All that starts from now on is well, and what lives recovers. */
export function heal(world: EngineWorld): void {
  world.nextFate = () => GOOD;
  world.isDiskFull = false;
  world.stuckPages = 0;
  for (const child of world.children) {
    child.goOn();
    child.sick = 0;
    child.answerMs = 0;
  }
}
