import { type Config, POD_SETTINGS_VERSION, type PodHealth } from '@pagefleet/contract';
import { mergeReports, NO_LISTING, type Pod, transition } from '@pagefleet/core';
import { describe, expect, test } from 'vitest';
import { UTC_CALENDAR } from '../money/calendar.ts';
import { NO_MONEY } from '../money/money-state.ts';
import { WorkerBook } from '../observe/worker-book.ts';
import { bootingPod, keyOf, servingPod, T0 } from '../test-kit/pods.ts';
import { buildStatus, type StatusInput } from './build-status.ts';
import { lateSources } from './degraded.ts';

const config = {
  cluster: 'c',
  limits: { maxInflightPerPod: 64 },
  money: { usdPerHour: 0, usdPerDay: 0, hardUsdPerHour: 0, hardUsdPerDay: 0, timeZone: 'UTC' },
  pools: [
    {
      name: 'ocr',
      models: [],
      vllm: { loras: [] },
      provider: 'local',
      engine: 'sleep',
      minPods: 1,
      maxPods: 4,
    },
  ],
} as unknown as Config;

function input(pods: Pod[], change: Partial<StatusInput> = {}): StatusInput {
  return {
    nowMs: T0 + 10_000,
    config,
    clusterId: 'us',
    epoch: 3,
    registry: new Map(pods.map((pod) => [pod.key, pod])),
    listing: NO_LISTING,
    caps: null,
    offers: null,
    usage: [],
    money: NO_MONEY,
    today: UTC_CALENDAR.dayAt(T0),
    reports: mergeReports([], { nowMs: T0, epoch: 3, alive: [] }),
    workers: [],
    probes: new Map(),
    health: new Map(),
    reasons: new Map(),
    alarms: [],
    degraded: [],
    ...change,
  };
}

function quarantined(name: string): Pod {
  const blame = {
    reason: 'unreachable',
    detail: 'refused',
    answered: {},
    owesTrialMs: null,
    nextProbeMs: T0 + 45_000,
  } as const;
  const suspected = { kind: 'suspected', ...blame } as const;
  const result = transition({ ...servingPod(name), priceUsdPerHour: 2 }, suspected, T0);
  if (!result.legal) throw new Error('not quarantined');
  return result.pod;
}

describe('the status snapshot (R-050, R-091, R-093)', () => {
  test('pods_set_aside_are_a_state_of_their_own_and_money_is_the_sum_of_its_parts', () => {
    const booting = { ...bootingPod('b'), priceUsdPerHour: 1 };
    const serving = { ...servingPod('s'), priceUsdPerHour: 4 };
    const { summary, pods } = buildStatus(input([booting, serving, quarantined('q')]));
    expect(summary).toMatchObject({ pods_ready: 1, pods_booting: 1, pods_quarantined: 1, pods_draining: 0 });
    expect(summary).toMatchObject({
      live_hourly_usd: 7,
      live_hourly_serving_usd: 4,
      live_hourly_booting_usd: 1,
      live_hourly_quarantined_usd: 2,
    });
    const aside = pods.find((pod) => pod.state === 'quarantined');
    expect(aside?.quarantine_remaining_s).toBe(35);
  });

  test('a_pod_that_only_the_listing_shows_is_billed_and_shown_as_booting', () => {
    const mark = { clusterId: 'us', podKey: keyOf('z'), pool: 'ocr', width: 1, configHash: 'h', spot: false };
    const base = {
      id: 'id-z',
      name: 'z',
      status: 'running',
      url: null,
      priceUsdPerHour: 5,
      card: null,
      cloud: null,
      createdAtMs: T0,
    } as const;
    const newest = { startedAtMs: T0, endedAtMs: T0, pods: [{ ...base, mark }] };
    const { summary } = buildStatus(input([], { listing: { newest, previous: null } }));
    expect(summary).toMatchObject({ pods_booting: 1, live_hourly_usd: 5, live_hourly_booting_usd: 5 });
  });

  test('what_a_pod_runs_with_is_its_own_word_and_what_it_does_not_know_is_a_warning (R-045)', () => {
    const pod = servingPod('s');
    const said = {
      ...{ engine: 'busy', unknownSettings: ['PAGEFLEET_POD_NEW'], configHash: 'other', width: 1 },
      ...{ settingsVersion: POD_SETTINGS_VERSION - 1, warnings: ['the pod cannot remove itself'] },
      ...{ cpuPercent: 50, rssBytes: 9, inflight: 2, pagesDone: 7 },
      settings: { width: 1, podKey: pod.key, portFile: '/x', host: '127.0.0.1', sleepMs: 5 },
    } as unknown as PodHealth;
    const health = new Map([[pod.key, { health: said, atMs: T0 }]]);
    const [shown] = buildStatus(input([pod], { health })).pods;
    expect(shown).toMatchObject({ engine: 'busy', cpu_percent: 50, inflight: 2, used: 7 });
    expect(shown?.settings).toEqual({ width: 1, sleepMs: 5 });
    expect(shown?.settings_version).toBe(POD_SETTINGS_VERSION - 1);
    expect(shown?.warnings).toHaveLength(5);
    const named = ['PAGEFLEET_POD_NEW', 'cannot remove itself', `not ${POD_SETTINGS_VERSION}`];
    for (const words of named) expect(shown?.warnings.join()).toContain(words);
  });

  test('terminated_pods_are_counted_nowhere_and_every_state_has_its_number', () => {
    const gone = transition(servingPod('g'), { kind: 'gone', why: 'gone' }, T0);
    if (!gone.legal) throw new Error('not gone');
    const status = buildStatus(input([gone.pod]));
    expect(status.pods).toEqual([]);
    expect(status.pools[0]?.pods).toEqual({
      ...{ renting: 0, booting: 0, serving: 0, quarantined: 0, draining: 0, terminating: 0, terminated: 1 },
    });
  });
});

describe('late sources (R-090)', () => {
  const quiet = {
    nowMs: T0,
    listing: { newest: { startedAtMs: T0, endedAtMs: T0, pods: [] }, previous: null },
    listingIntervalMs: 60_000,
    bus: { connected: true, lastConnectedMs: null },
    workers: new WorkerBook(),
    pods: { late: null, ageMs: 0 },
  };

  test('nothing_is_degraded_when_everything_is_of_now', () => {
    expect(lateSources(quiet)).toEqual([]);
  });

  test('each_late_source_is_named_with_the_age_of_what_is_shown', () => {
    const workers = new WorkerBook();
    const row = { bootId: 'a', worker: 2, pid: 1, port: 9, state: 'listening', sinceMs: T0 } as const;
    workers.takeRoster({ v: 1, group: 'workers', primaryId: 'p', seq: 1, atMs: T0, workers: [row] });
    const late = lateSources({
      ...quiet,
      nowMs: T0 + 130_000,
      bus: { connected: false, lastConnectedMs: T0 + 129_000 },
      workers,
      pods: { late: 'no answer within 5000 ms', ageMs: 400 },
    });
    expect(late.map(({ source, ageMs }) => [source, ageMs])).toEqual([
      ['account', 130_000],
      ['bus', 1_000],
      ['worker 2', null],
      ['pods', 400],
    ]);
  });
});
