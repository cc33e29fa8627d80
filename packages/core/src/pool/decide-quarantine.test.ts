import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import type { Plan } from './plan.ts';
import type { Pod } from './pod-state.ts';
import type { ProbeOutcome, ProbePurpose } from './probe.ts';
import type { World } from './world.ts';
import {
  memory,
  refusing,
  registry,
  reports,
  serving,
  settings,
  T0,
  terminating,
  unreachable,
  world,
} from './world-kit.ts';

const ASKED_MS = T0 - 5_000;

function answers(key: string, purpose: ProbePurpose, outcome: ProbeOutcome): World['probes'] {
  return new Map([[key, { purpose, askedAtMs: ASKED_MS, endedAtMs: T0 - 1_000, outcome }]]);
}

function asked(purpose: ProbePurpose) {
  return { asked: { purpose, askedAtMs: ASKED_MS } };
}

function endOf(plan: Plan, key: string): string | undefined {
  return plan.transitions.filter((t) => t.podKey === key).at(-1)?.to;
}

function suspicion(kind: 'unreachable' | 'refusing', n = 1, atMs = T0 - 100) {
  return { n, kind, code: 'pod_failed', atMs, bootId: 'w1', document: 'd1' };
}

/** Others that answered just now, so that a fault is the pod's own. */
const OTHERS = [serving('b'), serving('c'), serving('d')];
const OTHERS_ANSWER = {
  b: { lastGoodMs: T0 - 500 },
  c: { lastGoodMs: T0 - 500 },
  d: { lastGoodMs: T0 - 500 },
};

describe('R-030: a refused connection', () => {
  const plan = decide(
    world({
      registry: registry(serving('a'), ...OTHERS),
      reports: reports({ a: { suspects: [suspicion('unreachable')] }, ...OTHERS_ANSWER }),
    }),
  );

  test('quarantines_and_probes_at_once', () => {
    expect(endOf(plan, 'a')).toBe('quarantined');
    expect(plan.actions).toMatchObject([{ kind: 'probe', podKey: 'a', purpose: 'immediate', askedAtMs: T0 }]);
  });

  test('never_terminates', () => {
    expect(plan.actions.filter((action) => action.kind === 'terminate')).toEqual([]);
  });

  test('that_was_answered_already_does_not_quarantine_again', () => {
    const answered = serving('a', { answered: { w1: 1 } });
    const again = decide(
      world({
        registry: registry(answered),
        reports: reports({ a: { suspects: [suspicion('unreachable')] } }),
      }),
    );
    expect(again.transitions).toEqual([]);
  });
});

describe('R-030: probes of an unreachable pod', () => {
  test('a_failed_immediate_probe_is_no_strike', () => {
    const pod = unreachable('a', { ...asked('immediate'), strikes: 0 });
    const plan = decide(
      world({
        registry: registry(pod, ...OTHERS),
        probes: answers('a', 'immediate', 'refused'),
        reports: reports(OTHERS_ANSWER),
      }),
    );
    expect(plan.transitions).toMatchObject([{ podKey: 'a', event: { kind: 'probe-failed', strike: false } }]);
  });

  test('go_out_every_45_seconds_whatever_is_in_flight', () => {
    const pod = unreachable('a', { nextProbeMs: T0 });
    const plan = decide(
      world({
        registry: registry(pod, ...OTHERS),
        reports: reports({ a: { inflight: 8 }, ...OTHERS_ANSWER }),
      }),
    );
    expect(plan.actions).toMatchObject([{ kind: 'probe', purpose: 'scheduled' }]);
    expect(plan.transitions).toMatchObject([{ event: { nextProbeMs: T0 + 45_000 } }]);
  });

  test('a_lost_probe_is_asked_again_without_a_strike', () => {
    const pod = unreachable('a', {
      asked: { purpose: 'scheduled', askedAtMs: T0 - 26_000 },
      nextProbeMs: T0,
      strikes: 2,
    });
    const plan = decide(world({ registry: registry(pod, ...OTHERS), reports: reports(OTHERS_ANSWER) }));
    expect(plan.transitions.map((t) => t.event.kind)).toEqual(['probe-void', 'probe-asked']);
  });
});

describe('R-026: a shortage on our side', () => {
  const probeOf = (pod: Pod, purpose: ProbePurpose) =>
    decide(
      world({
        registry: registry(pod, ...OTHERS),
        probes: answers('a', purpose, 'ours'),
        reports: reports(OTHERS_ANSWER),
      }),
    );

  test('a_probe_that_we_could_not_send_is_no_strike_even_as_the_third_and_is_sent_again_when_it_is_due', () => {
    const pod = unreachable('a', { ...asked('scheduled'), strikes: 2, nextProbeMs: T0 });
    const plan = probeOf(pod, 'scheduled');
    expect(plan.transitions.map((t) => t.event.kind)).toEqual(['probe-void', 'probe-asked']);
    expect(endOf(plan, 'a')).toBe('quarantined');
    expect(plan.actions).toMatchObject([{ kind: 'probe', purpose: 'scheduled' }]);
  });

  test('a_check_that_we_could_not_send_sets_nothing_aside', () => {
    const plan = probeOf(serving('a', asked('check')), 'check');
    expect(plan.transitions.map((t) => t.event.kind)).toEqual(['probe-void']);
    expect(endOf(plan, 'a')).toBe('serving');
  });

  test('a_trial_page_that_we_could_not_send_leaves_the_pause_as_it_was', () => {
    const plan = probeOf(refusing('a', { ...asked('trial'), backoffMs: 40_000 }), 'trial');
    expect(plan.transitions.map((t) => t.event.kind)).toEqual(['probe-void']);
  });
});

describe('R-031: a proven answer', () => {
  test.each<ProbeOutcome>(['ready', 'busy', 'starting'])(
    '%s_restores_an_unreachable_pod_at_once',
    (outcome) => {
      const pod = unreachable('a', { ...asked('scheduled'), strikes: 2 });
      const plan = decide(world({ registry: registry(pod), probes: answers('a', 'scheduled', outcome) }));
      expect(endOf(plan, 'a')).toBe('serving');
    },
  );

  test('a_finished_page_restores_an_unreachable_pod', () => {
    const plan = decide(
      world({ registry: registry(unreachable('a')), reports: reports({ a: { lastGoodMs: T0 - 10 } }) }),
    );
    expect(endOf(plan, 'a')).toBe('serving');
  });

  test.each<ProbeOutcome>(['dead', 'timeout', 'unproven', 'refused'])('%s_is_a_failed_probe', (outcome) => {
    const pod = unreachable('a', asked('scheduled'));
    const plan = decide(
      world({
        registry: registry(pod, ...OTHERS),
        probes: answers('a', 'scheduled', outcome),
        reports: reports(OTHERS_ANSWER),
      }),
    );
    expect(plan.transitions).toMatchObject([{ event: { kind: 'probe-failed', strike: true } }]);
  });

  test('restoring_answers_the_suspicions_raised_meanwhile', () => {
    const pod = unreachable('a', asked('immediate'));
    const suspects = [suspicion('unreachable', 3, T0 - 2_000)];
    const plan = decide(
      world({
        registry: registry(pod),
        probes: answers('a', 'immediate', 'ready'),
        reports: reports({ a: { suspects } }),
      }),
    );
    expect(plan.transitions).toMatchObject([{ event: { kind: 'restored', answered: { w1: 3 } } }]);
  });

  test('a_suspicion_younger_than_the_answer_starts_anew', () => {
    const pod = unreachable('a', { ...asked('immediate'), strikes: 2 });
    const suspects = [suspicion('unreachable', 3, T0 - 10)];
    const plan = decide(
      world({
        registry: registry(pod),
        probes: answers('a', 'immediate', 'ready'),
        reports: reports({ a: { suspects } }),
      }),
    );
    expect(plan.transitions).toMatchObject([{ event: { kind: 'suspected', reason: 'unreachable' } }]);
    expect(plan.actions).toMatchObject([{ kind: 'probe', purpose: 'immediate' }]);
  });
});

describe('R-032: the third failed scheduled probe', () => {
  const pod = unreachable('a', { ...asked('scheduled'), strikes: 2, sinceMs: T0 - 136_000 });
  const failed = answers('a', 'scheduled', 'refused');

  test('terminates_while_others_answer', () => {
    const plan = decide(
      world({ registry: registry(pod, ...OTHERS), probes: failed, reports: reports(OTHERS_ANSWER) }),
    );
    expect(endOf(plan, 'a')).toBe('terminating');
    expect(plan.actions).toMatchObject([{ kind: 'terminate', id: 'id-a', why: 'unreachable' }]);
  });

  test('ends_nothing_while_no_other_pod_answers', () => {
    const plan = decide(world({ registry: registry(pod, ...OTHERS), probes: failed }));
    expect(plan.actions.filter((action) => action.kind === 'terminate')).toEqual([]);
    expect(plan.alarms.join()).toContain('looks like ours');
  });

  test('of_a_lone_pod_terminates_only_while_the_provider_answers', () => {
    const lone = { registry: registry(pod), probes: failed };
    expect(endOf(decide(world(lone)), 'a')).toBe('terminating');
    const old = T0 - 100_000;
    const silent = { newest: { startedAtMs: old, endedAtMs: old, pods: [] }, previous: null };
    expect(endOf(decide(world({ ...lone, providerAnsweredMs: old, listing: silent })), 'a')).toBe(
      'quarantined',
    );
  });

  test('is_no_strike_on_the_word_of_the_pod_itself_before_it_fell_silent', () => {
    const once = { registry: registry(pod, serving('b')), probes: failed };
    const plan = decide(world({ ...once, reports: reports({ a: { lastGoodMs: pod.sinceMs - 1 } }) }));
    const recent = { ...pod, sinceMs: T0 - 50_000 };
    const late = decide(
      world({
        ...once,
        registry: registry(recent, serving('b')),
        reports: reports({ a: { lastGoodMs: T0 - 50_001 } }),
      }),
    );
    for (const { transitions } of [plan, late]) {
      expect(transitions).toMatchObject([{ event: { kind: 'probe-failed', strike: false } }]);
    }
  });

  test('of_one_in_a_pair_terminates', () => {
    const plan = decide(
      world({
        registry: registry(pod, serving('b')),
        probes: failed,
        reports: reports({ b: { lastGoodMs: T0 - 500 } }),
      }),
    );
    expect(endOf(plan, 'a')).toBe('terminating');
  });

  test('when_half_failed_together_ends_and_rents_nothing', () => {
    const fleet = registry(pod, unreachable('b'), serving('c'), serving('d'));
    const plan = decide(
      world({
        registry: fleet,
        probes: failed,
        reports: reports({ c: { lastGoodMs: T0 - 500 } }, { waiting: 10_000 }),
        memory: memory({ debtPageMs: 1e9, deficit: 10_000 }),
      }),
    );
    expect(plan.actions).toEqual([]);
    expect(plan.alarms.join()).toContain('2 of 4 pods stopped answering together');
  });

  test('waits_when_another_was_ended_within_the_minute', () => {
    const second = unreachable('x', { ...asked('scheduled'), strikes: 2 });
    const probes = new Map([...failed, ...answers('x', 'scheduled', 'refused')]);
    const fleet = registry(pod, second, ...OTHERS);
    const both = decide(world({ registry: fleet, probes, reports: reports(OTHERS_ANSWER) }));
    expect(both.actions).toMatchObject([{ kind: 'terminate', podKey: 'a' }]);
    expect(both.transitions.at(-1)).toMatchObject({
      podKey: 'x',
      event: { kind: 'probe-failed', strike: true },
    });
    const lone = { registry: registry(pod, ...OTHERS), probes: failed, reports: reports(OTHERS_ANSWER) };
    expect(decide(world({ ...lone, memory: memory({ endsByProbeMs: [T0 - 59_999] }) })).actions).toEqual([]);
    expect(decide(world({ ...lone, memory: memory({ endsByProbeMs: [T0 - 60_000] }) })).actions).toHaveLength(
      1,
    );
  });

  test('after_an_answer_of_the_pod_itself_that_its_engine_is_dead_terminates_without_other_witnesses', () => {
    const plan = decide(
      world({ registry: registry(pod, serving('b')), probes: answers('a', 'scheduled', 'dead') }),
    );
    expect(endOf(plan, 'a')).toBe('terminating');
  });
});

describe('R-031, L6: a refusing pod', () => {
  test('gets_a_trial_page_after_5_seconds', () => {
    const plan = decide(
      world({
        registry: registry(serving('a')),
        reports: reports({ a: { suspects: [suspicion('refusing')] } }),
      }),
    );
    expect(plan.transitions).toMatchObject([{ to: 'quarantined', event: { reason: 'refusing' } }]);
    expect(plan.actions).toEqual([]);
    expect(plan.wakeAtMs).toBe(T0 + 5_000);
    const due = decide(world({ registry: registry(refusing('a', { nextProbeMs: T0 })) }));
    expect(due.actions).toMatchObject([{ kind: 'trial', podKey: 'a' }]);
  });

  test('is_restored_by_a_trial_page_only', () => {
    const trial = refusing('a', asked('trial'));
    expect(
      endOf(decide(world({ registry: registry(trial), probes: answers('a', 'trial', 'page-read') })), 'a'),
    ).toBe('serving');
    const answered = decide(
      world({ registry: registry(refusing('a')), reports: reports({ a: { lastGoodMs: T0 - 10 } }) }),
    );
    expect(answered.transitions).toEqual([]);
  });

  test.each([
    [5_000, 10_000],
    [160_000, 300_000],
    [300_000, 300_000],
  ])('waits_after_a_refused_trial_at_%d_for_%d', (backoffMs, nextMs) => {
    const pod = refusing('a', { ...asked('trial'), backoffMs });
    const plan = decide(world({ registry: registry(pod), probes: answers('a', 'trial', 'page-refused') }));
    expect(plan.transitions[0]?.event.kind).toBe('trial-failed');
    expect(plan.wakeAtMs).toBe(Math.min(T0 + nextMs, T0 + 30_000));
  });

  test('that_falls_silent_still_owes_the_trial_page', () => {
    const silent = decide(
      world({ registry: registry(refusing('a', asked('trial'))), probes: answers('a', 'trial', 'refused') }),
    );
    expect(silent.transitions).toMatchObject([{ event: { reason: 'unreachable', owesTrialMs: 10_000 } }]);
    const back = unreachable('a', { ...asked('immediate'), owesTrialMs: 10_000 });
    const plan = decide(world({ registry: registry(back), probes: answers('a', 'immediate', 'ready') }));
    expect(plan.transitions).toMatchObject([
      { to: 'quarantined', event: { kind: 'suspected', reason: 'refusing' } },
    ]);
  });

  test('that_never_reads_is_ended_when_a_twin_reads', () => {
    const pod = refusing('a', { ...asked('trial'), backoffMs: 300_000 });
    const probes = answers('a', 'trial', 'page-refused');
    const lonely = decide(world({ registry: registry(pod, ...OTHERS), probes }));
    expect(endOf(lonely, 'a')).toBe('quarantined');
    const plan = decide(
      world({ registry: registry(pod, ...OTHERS), probes, reports: reports(OTHERS_ANSWER) }),
    );
    expect(endOf(plan, 'a')).toBe('terminating');
  });
});

describe('R-033: a pod set aside', () => {
  test('makes_no_deficit_and_counts_towards_the_floor', () => {
    const fleet = registry(unreachable('a', { nextProbeMs: T0 + 1 }), serving('b'));
    const plan = decide(
      world({
        registry: fleet,
        pools: [settings({ minPods: 2, maxPods: 5 })],
        reports: reports({ b: { inflight: 8, lastGoodMs: T0 } }, { inflight: 8, waiting: 6 }),
      }),
    );
    expect(plan.actions).toEqual([]);
  });

  test('counts_against_the_cap_as_do_leaving_ones', () => {
    const fleet = registry(unreachable('a'), terminating('b'));
    const plan = decide(world({ registry: fleet }));
    expect(plan.caps.pools.get('ocr')).toMatchObject({ existing: 2, room: 8 });
  });
});
