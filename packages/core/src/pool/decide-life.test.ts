import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import type { ProbeOutcome } from './probe.ts';
import type { World } from './world.ts';
import {
  booting,
  listed,
  listedOf,
  listing,
  memory,
  refusing,
  registry,
  reports,
  serving,
  settings,
  T0,
  terminating,
  world,
} from './world-kit.ts';

const ASKED = { asked: { purpose: 'boot', askedAtMs: T0 - 1_000 } } as const;

function bootAnswer(outcome: ProbeOutcome) {
  return new Map([['a', { purpose: 'boot', askedAtMs: T0 - 1_000, endedAtMs: T0 - 500, outcome }]] as const);
}

function seen(...entries: Parameters<typeof listing>[1][number][]) {
  return { newest: listing(T0 - 1_000, entries), previous: null };
}

describe('R-038: a boot', () => {
  test.each<[ProbeOutcome, string]>([
    ['ready', 'serving'],
    ['busy', 'serving'],
    ['starting', 'booting'],
    ['refused', 'booting'],
    ['unproven', 'booting'],
  ])('whose_probe_says_%s_is_%s', (outcome, state) => {
    const plan = decide(world({ registry: registry(booting('a', ASKED)), probes: bootAnswer(outcome) }));
    expect(plan.transitions[0]?.to).toBe(state);
  });

  test('whose_engine_cannot_start_is_over_with_the_reason_and_counts_as_failed', () => {
    const answer = { purpose: 'boot', askedAtMs: T0 - 1_000, endedAtMs: T0 - 500, outcome: 'unfit' } as const;
    const probes: World['probes'] = new Map([['a', { ...answer, detail: 'language xyz is not installed' }]]);
    const plan = decide(world({ registry: registry(booting('a', ASKED)), probes }));
    expect(plan.actions).toMatchObject([{ kind: 'terminate', why: 'boot-failed' }]);
    expect(plan.transitions[0]?.reason).toContain('cannot start: language xyz is not installed');
    expect(plan.memory.pools.ocr?.failedBoots).toBe(1);
  });

  test('is_ready_by_our_probe_never_by_the_word_of_the_listing', () => {
    const pod = booting('a', { nextProbeMs: T0 });
    const plan = decide(
      world({ registry: registry(pod), listing: seen(listed({ key: 'a', status: 'running' })) }),
    );
    expect(plan.actions).toMatchObject([{ kind: 'probe', purpose: 'boot', timeoutMs: 15_000 }]);
    expect(plan.transitions.every((t) => t.to === 'booting')).toBe(true);
  });

  test('without_an_address_waits_for_a_listing_that_comes_soon', () => {
    const plan = decide(
      world({
        registry: registry(booting('a', { url: null, shownAtMs: null, nextProbeMs: T0 })),
        listing: { newest: listing(T0, []), previous: listing(T0 - 60_000, []) },
      }),
    );
    expect(plan.actions).toEqual([]);
    expect(plan.listingDueMs).toBe(T0 + 100 + 10_000);
  });

  test('that_answered_any_probe_serves_and_is_not_late', () => {
    const pod = booting('a', { origin: 'adopted', sinceMs: T0 - 2_000, deadlineMs: T0 });
    const probes = new Map([
      ['a', { purpose: 'check', askedAtMs: T0 - 9_000, endedAtMs: T0 - 500, outcome: 'ready' }],
    ] as const);
    expect(decide(world({ registry: registry(pod), probes })).transitions[0]?.to).toBe('serving');
  });

  test('that_workers_still_read_pages_on_serves', () => {
    const pod = booting('a', { origin: 'adopted', sinceMs: T0 - 5_000, nextProbeMs: T0 + 1 });
    const plan = decide(world({ registry: registry(pod), reports: reports({ a: { lastGoodMs: T0 - 10 } }) }));
    expect(plan.transitions[0]?.to).toBe('serving');
  });
});

describe('what the listing says', () => {
  test('a_pod_that_exists_and_runs_nothing_is_ended', () => {
    const exited = { ...listedOf(serving('a')), status: 'exited' } as const;
    const plan = decide(world({ registry: registry(serving('a')), listing: seen(exited) }));
    expect(plan.actions).toMatchObject([{ kind: 'terminate', why: 'exited' }]);
    const answers = world({
      registry: registry(serving('a')),
      listing: seen(exited),
      reports: reports({ a: { lastGoodMs: T0 - 10 } }),
    });
    expect(decide(answers).actions).toEqual([]);
    const restarted = serving('a', { sinceMs: T0 - 500 });
    expect(decide(world({ registry: registry(restarted), listing: seen(exited) })).actions).toEqual([]);
  });

  test('R-052_a_bill_above_the_ceiling_drains_the_pod_and_sets_the_offer_aside', () => {
    const dear = { ...listedOf(serving('a')), priceUsdPerHour: 2 };
    const pools = [settings({ maxPriceUsdPerHour: 1, minPods: 1 })];
    const plan = decide(world({ registry: registry(serving('a')), listing: seen(dear), pools }));
    expect(plan.transitions.at(-1)).toMatchObject({ to: 'draining', event: { why: 'overpriced' } });
    expect(plan.memory.pools.ocr).toMatchObject({ refusals: 1, refusedUntilMs: T0 + 30_000 });
    expect(plan.actions).toEqual([]);
  });

  test('a_pod_of_a_pool_that_is_no_longer_configured_drains', () => {
    const plan = decide(world({ registry: registry(serving('a')), pools: [] }));
    expect(plan.transitions).toMatchObject([{ to: 'draining', event: { why: 'unknown-pool' } }]);
  });
});

describe('an end', () => {
  test('is_asked_for_again_while_the_listing_still_shows_the_pod', () => {
    const early = world({ registry: registry(terminating('a', { askedAtMs: T0 - 29_999 })) });
    expect(decide(early).actions).toEqual([]);
    const due = world({ registry: registry(terminating('a', { askedAtMs: T0 - 30_000 })) });
    expect(decide(due).actions).toMatchObject([{ kind: 'terminate', id: 'id-a' }]);
    expect(decide({ ...due, listing: seen() }).actions).toEqual([]);
  });

  test('of_a_rent_that_was_refused_waits_30_seconds_and_longer_each_time', () => {
    const { id: _id, ...pod } = serving('a');
    const refused = { ...pod, id: null, state: 'terminated', atMs: T0, why: 'refused' } as const;
    const first = decide(world({ registry: registry(refused), pools: [settings({ minPods: 1 })] }));
    expect(first).toMatchObject({
      forget: ['a'],
      actions: [],
      memory: { pools: { ocr: { refusedUntilMs: T0 + 30_000 } } },
    });
    const second = decide(world({ registry: registry(refused), memory: memory({ refusals: 1 }) }));
    expect(second.memory.pools.ocr?.refusedUntilMs).toBe(T0 + 60_000);
  });
});

describe('serving pods', () => {
  test('are_checked_every_30_seconds_unless_a_page_has_just_been_read', () => {
    const pod = serving('a', { nextProbeMs: T0 });
    expect(decide(world({ registry: registry(pod) })).actions).toMatchObject([
      { kind: 'probe', purpose: 'check' },
    ]);
    const busy = reports({ a: { lastGoodMs: T0 - 29_999, inflight: 1 } });
    expect(decide(world({ registry: registry(pod), reports: busy })).actions).toEqual([]);
  });

  test('of_an_unproven_configuration_get_one_trial_page_between_them', () => {
    const pods = registry(serving('a', { nextProbeMs: T0 }), serving('b', { nextProbeMs: T0 }));
    const plan = decide(world({ registry: pods, memory: memory({ provenHashes: [] }) }));
    expect(plan.actions.filter((action) => action.kind === 'trial')).toHaveLength(1);
  });

  test('that_refuse_the_first_page_are_set_aside', () => {
    const pod = serving('a', { asked: { purpose: 'trial', askedAtMs: T0 - 1_000 } });
    const probes = new Map([
      ['a', { purpose: 'trial', askedAtMs: T0 - 1_000, endedAtMs: T0, outcome: 'page-refused' }],
    ] as const);
    const plan = decide(world({ registry: registry(pod), probes, memory: memory({ provenHashes: [] }) }));
    expect(plan.transitions).toMatchObject([{ to: 'quarantined', event: { reason: 'refusing' } }]);
  });
});

describe('a trial page whose request is at fault (R-031)', () => {
  const ASKED_TRIAL = { asked: { purpose: 'trial', askedAtMs: T0 - 1_000 } } as const;
  const probes: World['probes'] = new Map([
    ['a', { purpose: 'trial', askedAtMs: T0 - 1_000, endedAtMs: T0, outcome: 'page-faulty' }],
  ]);

  test.each([serving('a', ASKED_TRIAL), refusing('a', ASKED_TRIAL)])(
    'says_nothing_of_a_pod: $state',
    (pod) => {
      const plan = decide(world({ registry: registry(pod), probes }));
      expect(plan.transitions).toMatchObject([{ to: pod.state, event: { kind: 'probe-void' } }]);
      expect(plan.actions).toEqual([]);
    },
  );
});

describe('a first page that is not read in time (R-031)', () => {
  const askedAtMs = T0 - 120_000;
  const late = (heard: Partial<World>) =>
    decide(
      world({
        registry: registry(serving('a', { asked: { purpose: 'trial', askedAtMs } })),
        probes: new Map([['a', { purpose: 'trial', askedAtMs, endedAtMs: T0, outcome: 'timeout' }]] as const),
        memory: memory({ provenHashes: [] }),
        ...heard,
      }),
    ).transitions;

  test('sets_an_idle_pod_aside', () => {
    expect(late({ reports: reports() })).toMatchObject([
      { to: 'quarantined', event: { reason: 'refusing' } },
    ]);
  });

  test.each([
    ['that_reads_a_clients_page', reports({ a: { inflight: 1 } })],
    ['that_has_just_read_one', reports({ a: { lastGoodMs: askedAtMs + 1 } })],
    ['of_which_a_worker_is_silent', reports({}, {}, { complete: false, stale: ['w1'], fresh: [] })],
    ['of_which_nothing_was_heard', null],
  ])('says_nothing_about_a_pod_%s', (_, heard) => {
    expect(late({ reports: heard })).toMatchObject([{ event: { kind: 'probe-void' } }]);
  });
});

describe('R-021: pages refused by half of the pool', () => {
  function refusal(n: number, document: string) {
    return {
      suspects: [{ n, kind: 'refusing', code: 'pod_refused', atMs: T0 - 100, bootId: 'w1', document }],
    } as const;
  }
  const pods = registry(...['a', 'b', 'c', 'd'].map((key) => serving(key)));

  test('of_different_documents_suspend_the_pool_once_for_30_seconds', () => {
    const change = { registry: pods, reports: reports({ a: refusal(1, 'd1'), b: refusal(1, 'd2') }) };
    const first = decide(world(change));
    expect(first.memory.pools.ocr?.pagesSuspendedUntilMs).toBe(T0 + 30_000);
    expect(first.wakeAtMs).toBeLessThanOrEqual(T0 + 30_000);
    const later = decide(world({ ...change, nowMs: T0 + 40_000, memory: first.memory }));
    expect(later.memory.pools.ocr?.pagesSuspendedUntilMs).toBe(T0 + 30_000);
    expect(later.memory.pools.ocr?.pageRefusals).toHaveLength(2);
  });

  test('of_few_of_many_pods_are_no_worse_once_the_others_have_left', () => {
    const six = registry(...['a', 'b', 'c', 'd', 'e', 'f'].map((key) => serving(key)));
    const heard = { reports: reports({ a: refusal(1, 'd1'), b: refusal(1, 'd2') }) };
    const first = decide(world({ ...heard, registry: six }));
    expect(first.memory.pools.ocr?.pagesSuspendedUntilMs).toBe(0);
    const fewer = { ...heard, registry: registry(serving('a'), serving('b'), serving('c')) };
    const later = decide(world({ ...fewer, nowMs: T0 + 1_000, memory: first.memory }));
    expect(later.memory.pools.ocr?.pagesSuspendedUntilMs).toBe(0);
  });

  test('of_one_document_suspend_nothing', () => {
    const change = { registry: pods, reports: reports({ a: refusal(1, 'd1'), b: refusal(1, 'd1') }) };
    expect(decide(world(change)).memory.pools.ocr?.pagesSuspendedUntilMs).toBe(0);
  });
});
