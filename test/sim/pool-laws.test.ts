import { decide, type Plan, type World } from '@pagefleet/core';
import { describe, expect, test } from 'vitest';
import { disturb, heal, pauseMs, randomOf } from './pool-adversary.ts';
import { PoolModel } from './pool-model.ts';
import { PoolOracle } from './pool-oracle.ts';

const SEEDS = 200;
const HEALED_SEEDS = 25;
const STEPS = 120;

type Decide = (world: World) => Plan;

function step(model: PoolModel, oracle: PoolOracle, rule: Decide): void {
  const world = model.world();
  const plan = rule(world);
  oracle.check(world, plan, model.listings);
  model.apply(world, plan);
}

function play(seed: number, rule: Decide): { violations: string[]; model: PoolModel; oracle: PoolOracle } {
  const model = new PoolModel(randomOf(seed));
  const oracle = new PoolOracle();
  for (let n = 0; n < STEPS && oracle.violations.length === 0; n++) {
    disturb(model);
    model.advance(pauseMs(model));
    step(model, oracle, rule);
  }
  return { violations: oracle.violations.map((v) => `seed ${seed}: ${v}`), model, oracle };
}

function firstViolation(rule: Decide, law: string): string | undefined {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const found = play(seed, rule).violations.find((v) => v.includes(law));
    if (found !== undefined) return found;
  }
  return undefined;
}

describe('L1–L6, L8 under a random adversary', () => {
  test('hold_after_every_step_of_every_seed', () => {
    const violations: string[] = [];
    for (let seed = 1; seed <= SEEDS; seed++) violations.push(...play(seed, decide).violations);
    expect(violations).toEqual([]);
  });

  test('when_all_is_well_again_the_registry_and_the_account_agree_and_the_work_is_served', () => {
    for (let seed = 1; seed <= HEALED_SEEDS; seed++) {
      const { model, oracle } = play(seed, decide);
      heal(model);
      expect({ seed, violations: settle(model, oracle) }).toEqual({ seed, violations: [] });
      const pods = [...model.registry.values()];
      const ids = pods.flatMap((pod) => (pod.id === null ? [] : [pod.id]));
      expect({ seed, ids: ids.sort() }).toEqual({ seed, ids: [...model.cloud.keys()].sort() });
      expect({ seed, serves: pods.some((pod) => pod.state === 'serving') }).toEqual({ seed, serves: true });
    }
  });

  test('down_leaves_nothing_that_bills', () => {
    for (let seed = 1; seed <= HEALED_SEEDS; seed++) {
      const { model, oracle } = play(seed, decide);
      heal(model);
      model.isStopping = true;
      expect({ seed, violations: settle(model, oracle) }).toEqual({ seed, violations: [] });
      expect({ seed, left: [...model.cloud.keys()] }).toEqual({ seed, left: [] });
      expect({ seed, held: [...model.registry.keys()] }).toEqual({ seed, held: [] });
    }
  });
});

/** Longer than any wait that so short a disturbance can have earned a pool. */
function settle(model: PoolModel, oracle: PoolOracle): string[] {
  for (let n = 0; n < 700; n++) {
    model.advance(6_000);
    step(model, oracle, decide);
  }
  return oracle.violations;
}

/** Each rule broken on purpose, as it was broken in the field, must be seen by the oracle. */
describe('the oracle sees a broken rule', () => {
  test('R-039_only_healthy_pods_counted', () => {
    const rule: Decide = (world) => {
      const healthy = new Map([...world.registry].filter(([, pod]) => pod.state === 'serving'));
      const blind = decide({ ...world, registry: healthy, listing: { newest: null, previous: null } });
      const eager = decide({ ...world, registry: healthy });
      const plan = decide(world);
      const rents = [...blind.actions, ...eager.actions].filter((action) => action.kind === 'rent');
      return { ...plan, actions: [...plan.actions.filter((action) => action.kind !== 'rent'), ...rents] };
    };
    expect(firstViolation(rule, 'L1')).toBeDefined();
  });

  test('R-033_a_quarantined_pod_makes_a_deficit', () => {
    const rule: Decide = (world) => {
      const plan = decide(world);
      const present = new Map([...world.registry].filter(([, pod]) => pod.state !== 'quarantined'));
      const eager = decide({ ...world, registry: present }).actions.filter(
        (action) => action.kind === 'rent',
      );
      return { ...plan, actions: [...plan.actions.filter((action) => action.kind !== 'rent'), ...eager] };
    };
    expect(firstViolation(rule, 'L4')).toBeDefined();
  });

  test('L5_gone_by_one_listing', () => {
    const rule: Decide = (world) =>
      decide({ ...world, listing: { newest: world.listing.newest, previous: world.listing.newest } });
    expect(firstViolation(rule, 'L5')).toBeDefined();
  });

  test('L5_gone_by_a_stale_listing', () => {
    const rule: Decide = (world) => {
      const { newest, previous } = world.listing;
      return decide({
        ...world,
        listing: { newest: newest && { ...newest, endedAtMs: world.nowMs }, previous },
      });
    };
    expect(firstViolation(rule, 'stale')).toBeDefined();
  });

  test('R-030_a_refused_connection_terminates', () => {
    const rule: Decide = (world) => {
      const plan = decide(world);
      const transitions = plan.transitions.map((t) =>
        t.event.kind === 'suspected' && t.event.reason === 'unreachable'
          ? { ...t, to: 'terminating' as const, event: { kind: 'end', why: 'unreachable' } as const }
          : t,
      );
      return { ...plan, transitions };
    };
    expect(firstViolation(rule, 'L6')).toBeDefined();
  });

  test('R-030_a_strike_for_the_immediate_probe', () => {
    const rule: Decide = (world) => {
      const plan = decide(world);
      const isImmediate = (key: string) => world.probes.get(key)?.purpose === 'immediate';
      const transitions = plan.transitions.map((t) =>
        t.event.kind === 'probe-failed' && isImmediate(t.podKey)
          ? { ...t, event: { ...t.event, strike: true } }
          : t,
      );
      return { ...plan, transitions };
    };
    expect(firstViolation(rule, 'L6')).toBeDefined();
  });

  test('R-032_an_end_while_nobody_answers', () => {
    const rule: Decide = (world) => decide({ ...world, providerAnsweredMs: world.nowMs });
    expect(firstViolation(rule, 'L5')).toBeDefined();
  });
});
