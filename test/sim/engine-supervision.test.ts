import { describe, expect, test } from 'vitest';
import { disturb, drawFate, heal } from './engine-adversary.ts';
import { EngineOracle } from './engine-oracle.ts';
import { BROKEN_ENGINE_RULES } from './engine-sabotage.ts';
import { type EngineSabotage, EngineWorld, START_MS } from './engine-world.ts';
import { randomOf } from './pool-adversary.ts';

const SEEDS = 1_000;
const STEPS = 14;

async function play(seed: number, sabotage: EngineSabotage = {}): Promise<string[]> {
  const random = randomOf(seed);
  const world = new EngineWorld(() => drawFate(random), sabotage);
  const oracle = new EngineOracle(world);
  const check = (): void => {
    if (world.violations.length === 0) oracle.check();
  };
  for (let n = 0; n < STEPS && world.violations.length === 0; n += 1) await disturb(world, random, check);
  if (world.violations.length === 0) await end(world, seed % 2 === 0, check);
  return world.violations.map((violation) => `seed ${seed}: ${violation}`);
}

/** When all is well again it serves, or it ends and nothing is left. */
async function end(world: EngineWorld, stops: boolean, check: () => void): Promise<void> {
  heal(world);
  world.condemners = [];
  if (stops) world.stop();
  for (let n = 0; n < 4; n += 1) {
    if (!world.isStopping && n === 0 && world.child?.isAlive) world.condemn();
    await world.advance(40_000);
    check();
  }
  if (!world.isStopping && ['starting', 'dead'].includes(world.keeper.state()))
    await world.advance(START_MS + 80_000);
  const open = world.pages.filter(({ ends }) => ends !== 1).map(({ id }) => id);
  if (open.length > 0) world.broken(`pages: ${open} never ended`);
  if (world.isStopping && !world.isStopped) world.broken('stop: it never ends');
  if (!world.isStopping && world.keeper.state() !== 'ready')
    world.broken(`left: all is well and it is ${world.keeper.state()}`);
}

describe('the engine of a pod under a random adversary (R-040, L16)', () => {
  test('the_laws_hold_after_every_step_of_every_schedule', async () => {
    const violations: string[] = [];
    for (let seed = 1; seed <= SEEDS; seed += 1) violations.push(...(await play(seed)));
    expect(violations).toEqual([]);
  });

  test.each(Object.entries(BROKEN_ENGINE_RULES))(
    'a broken rule is seen: %s',
    async (_, { law, sabotage }) => {
      let found: string | undefined;
      for (let seed = 1; seed <= SEEDS && found === undefined; seed += 1)
        found = (await play(seed, sabotage)).find((violation) => violation.includes(`ms: ${law}`));
      expect(found).toBeDefined();
    },
  );
});
