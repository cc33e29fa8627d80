import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import type { Plan } from './plan.ts';
import type { Pod } from './pod-state.ts';
import type { ProbeOutcome, ProbePurpose } from './probe.ts';
import { probeTimeoutMs } from './probe.ts';
import { checkIntervalMs, evidenceWindowMs, type WatchSettings } from './watch.ts';
import type { World } from './world.ts';
import {
  listed,
  listing,
  memory,
  refusing,
  registry,
  reports,
  serving,
  T0,
  unreachable,
  WATCH,
  world,
} from './world-kit.ts';

const suspicion = (kind: 'unreachable' | 'refusing') => ({
  ...{ n: 1, kind, code: 'pod_failed', atMs: T0 - 100, bootId: 'w1', document: 'd1' },
});

function decideWith(watch: Partial<WatchSettings>, change: Partial<World>): Plan {
  return decide(world({ watch: { ...WATCH, ...watch }, ...change }));
}

function podAfter(plan: Plan, key = 'a') {
  return plan.transitions.findLast((t) => t.podKey === key)?.event;
}

function answered(pod: Pod, purpose: ProbePurpose, outcome: ProbeOutcome): World['probes'] {
  return new Map([[pod.key, { purpose, askedAtMs: T0 - 5_000, endedAtMs: T0 - 1_000, outcome }]]);
}

const intervals = fc.integer({ min: 100, max: 300_000 });

describe('control.probe_interval (R-030)', () => {
  test('is_the_pause_between_scheduled_probes_from_the_first_on', () => {
    fc.assert(
      fc.property(intervals, (probeIntervalMs) => {
        const due = { registry: registry(unreachable('a', { nextProbeMs: T0 })) };
        expect(podAfter(decideWith({ probeIntervalMs }, due))).toMatchObject({
          ...{ kind: 'probe-asked', purpose: 'scheduled', nextProbeMs: T0 + probeIntervalMs },
        });
        const accused = {
          registry: registry(serving('a'), serving('b')),
          reports: reports({ a: { suspects: [suspicion('unreachable')] }, b: { lastGoodMs: T0 - 10 } }),
        };
        expect(podAfter(decideWith({ probeIntervalMs }, accused))).toMatchObject({
          ...{ kind: 'suspected', reason: 'unreachable', nextProbeMs: T0 + probeIntervalMs },
        });
      }),
    );
  });

  test('serving_pods_are_checked_often_enough_to_be_evidence_by_the_first_strike (R-032)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 300_000 }), (probeIntervalMs) => {
        const watch = { ...WATCH, probeIntervalMs };
        expect(checkIntervalMs(watch)).toBeLessThan(probeIntervalMs);
        expect(evidenceWindowMs(watch)).toBeGreaterThan(checkIntervalMs(watch));
      }),
    );
    const lately = { b: { lastGoodMs: T0 - 5_000 } };
    const plan = (probeIntervalMs: number) =>
      decideWith(
        { probeIntervalMs },
        { registry: registry(serving('b', { nextProbeMs: T0 })), reports: reports(lately) },
      );
    expect(plan(45_000).actions).toEqual([]);
    expect(plan(6_000).actions).toMatchObject([{ kind: 'probe', purpose: 'check' }]);
  });

  test('an_answer_from_before_the_pod_fell_silent_is_no_evidence_that_we_can_reach_anyone (L5)', () => {
    const silent = (sinceMs: number) => {
      const asked = { purpose: 'scheduled', askedAtMs: T0 - 5_000 } as const;
      const pod = unreachable('a', { sinceMs, strikes: 2, asked });
      return decideWith(
        { probeIntervalMs: 1_000 },
        {
          registry: registry(pod, serving('b')),
          probes: answered(pod, 'scheduled', 'timeout'),
          reports: reports({ b: { lastGoodMs: T0 - 4_000 } }),
        },
      );
    };
    expect(podAfter(silent(T0 - 3_000))).toMatchObject({ kind: 'probe-failed', strike: false });
    expect(podAfter(silent(T0 - 10_000))).toMatchObject({ kind: 'end', why: 'unreachable' });
  });
});

describe('control.probe_timeout (R-040)', () => {
  test('bounds_checks_and_immediate_probes_and_five_times_as_long_the_ones_that_may_end_a_pod', () => {
    fc.assert(
      fc.property(fc.integer({ min: 50, max: 30_000 }), (ms) => {
        const watch = { ...WATCH, probeTimeoutMs: ms };
        const timeouts = (['check', 'immediate', 'scheduled', 'boot'] as const).map((p) =>
          probeTimeoutMs(p, watch),
        );
        expect(timeouts).toEqual([ms, ms, 5 * ms, 15_000]);
        const due = { registry: registry(unreachable('a', { nextProbeMs: T0 })) };
        expect(decideWith({ probeTimeoutMs: ms }, due).actions).toMatchObject([{ timeoutMs: 5 * ms }]);
      }),
    );
  });

  test('a_question_is_lost_only_after_its_own_time', () => {
    const pod = serving('a', { asked: { purpose: 'check', askedAtMs: T0 - 14_000 }, nextProbeMs: T0 + 1 });
    const at = (ms: number) => decideWith({ probeTimeoutMs: ms }, { registry: registry(pod) }).transitions;
    expect(at(3_000).map((t) => t.event.kind)).toEqual(['probe-void']);
    expect(at(5_000)).toEqual([]);
  });
});

describe('control.trial_delay (R-031)', () => {
  test('is_the_first_pause_and_doubles_to_sixty_times_as_much', () => {
    fc.assert(
      fc.property(fc.integer({ min: 50, max: 300_000 }), fc.nat(12), (trialDelayMs, doublings) => {
        const refused = {
          registry: registry(serving('a'), serving('b')),
          reports: reports({ a: { suspects: [suspicion('refusing')] }, b: { lastGoodMs: T0 - 10 } }),
        };
        expect(podAfter(decideWith({ trialDelayMs }, refused))).toMatchObject({
          ...{ kind: 'suspected', reason: 'refusing', backoffMs: trialDelayMs },
        });
        const backoffMs = Math.min(trialDelayMs * 2 ** doublings, 60 * trialDelayMs);
        const asked = { purpose: 'trial', askedAtMs: T0 - 5_000 } as const;
        const pod = refusing('a', { backoffMs, asked });
        const again = { registry: registry(pod), probes: answered(pod, 'trial', 'page-refused') };
        expect(podAfter(decideWith({ trialDelayMs }, again))).toMatchObject({
          ...{ kind: 'trial-failed', backoffMs: Math.min(2 * backoffMs, 60 * trialDelayMs) },
        });
      }),
    );
  });
});

describe('control.adoption_interval (R-035)', () => {
  const stray = listed({ key: 'stray' });
  const seen = { newest: listing(T0 - 1_000, [stray]), previous: listing(T0 - 2_000, [stray]) };

  test('is_the_pause_between_two_sweeps_and_between_two_listings', () => {
    fc.assert(
      fc.property(fc.integer({ min: 500, max: 60_000 }), fc.boolean(), (adoptionIntervalMs, isDue) => {
        const sweptAtMs = T0 - adoptionIntervalMs + (isDue ? 0 : 1);
        const plan = decideWith(
          { adoptionIntervalMs },
          { listing: seen, memory: { ...memory(), sweptAtMs } },
        );
        expect(plan.adoptions.length).toBe(isDue ? 1 : 0);
        if (!isDue) expect(plan.listingDueMs).toBe(seen.newest.endedAtMs + adoptionIntervalMs);
      }),
    );
  });

  test('whatever_waits_for_a_listing_never_waits_longer_than_it', () => {
    const setAside = { registry: registry(unreachable('a')) };
    const due = (adoptionIntervalMs: number) =>
      decideWith({ adoptionIntervalMs }, setAside).listingDueMs - seen.newest.endedAtMs;
    expect([due(60_000), due(3_000)]).toEqual([20_000, 3_000]);
  });
});
