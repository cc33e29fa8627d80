import { describeViolation, runWorld, shrinkWorld, type WorldViolation } from '@pagefleet/sim';
import { describe, expect, test } from 'vitest';
import { controllerUnderTest } from './world-controller.ts';
import { BROKEN_RULES, type BrokenRule } from './world-sabotage.ts';

/** as many seeds as fit in this time … */
const BUDGET_MS = 90_000;
/** … or exactly so many */
const WANTED = Number(process.env.WORLD_SEEDS ?? 0);
const FIRST_SEED = Number(process.env.WORLD_FIRST_SEED ?? 1);
const TIMEOUT_MS = Math.max(300_000, WANTED * 100);
/** a broken rule shows within so many seeds */
const SEEDS_PER_RULE = 1_000;

interface Searched {
  readonly seeds: number;
  readonly found: WorldViolation | null;
}

/** Plays seeds until a law is broken, or until the time or the seeds are over. */
async function search(
  build: ReturnType<typeof controllerUnderTest>,
  seeds: number,
  ms: number,
): Promise<Searched> {
  const startedMs = performance.now();
  for (let n = 0; n < seeds; n += 1) {
    const found = await runWorld({ seed: FIRST_SEED + n, build });
    if (found !== null) return { seeds: n + 1, found };
    if (performance.now() - startedMs > ms) return { seeds: n + 1, found: null };
  }
  return { seeds, found: null };
}

/**
 * The renting half of the controller as it runs in production, on a virtual clock, with a cloud, a network, a disk and a
 * NATS that fail. L1–L8 and L12 as far as they concern the controller, after every event; L9–L11 are the workers' and
 * have models of their own (`hand-over`, `slots`, `admit`); L13 lies below the provider's port.
 */
describe('a controller in a world that fails', { timeout: TIMEOUT_MS }, () => {
  test('breaks_no_law_and_leaves_nothing_billing_whatever_happens', async () => {
    const build = controllerUnderTest();
    const startedMs = performance.now();
    const { seeds, found } = await search(
      build,
      WANTED || Number.POSITIVE_INFINITY,
      WANTED ? Number.POSITIVE_INFINITY : BUDGET_MS,
    );
    const seconds = (performance.now() - startedMs) / 1_000;
    const last = FIRST_SEED + seeds - 1;
    process.stdout.write(`sim/world: seeds ${FIRST_SEED} to ${last} in ${seconds.toFixed(0)} s\n`);
    const seed = found?.seed ?? 0;
    expect(found && describeViolation(await shrinkWorld({ seed, build }, found))).toBeNull();
  });

  test.each(Object.keys(BROKEN_RULES) as BrokenRule[])('finds_a_broken_rule: %s', async (rule) => {
    const { law, sabotage } = BROKEN_RULES[rule];
    const build = controllerUnderTest(sabotage);
    const { seeds, found } = await search(build, SEEDS_PER_RULE, Number.POSITIVE_INFINITY);
    expect(found).toMatchObject({ law });
    if (found === null) return;
    const shrunk = await shrinkWorld({ seed: found.seed, build }, found);
    process.stdout.write(
      `${rule}: after ${seeds} seeds, ${found.events.length} events shrunk to ${shrunk.events.length}\n`,
    );
    expect(shrunk).toMatchObject({ law });
    expect(shrunk.events.length).toBeLessThanOrEqual(found.events.length);
  });
});
