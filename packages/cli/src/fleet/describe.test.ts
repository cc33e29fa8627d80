import type { FleetStatus, PodStatus } from '@pagefleet/contract';
import { describe, expect, test } from 'vitest';
import { describeChanges } from './describe-changes.ts';
import { describeDownLine } from './describe-down-line.ts';
import { formatStatus } from './format-status.ts';

function pod(id: string, state: PodStatus['state'], extra: Partial<PodStatus> = {}): PodStatus {
  return {
    ...{ id, name: id, pool: 'ocr', provider: 'local', state, reason: null, capacity: 4, soft_limit: 4 },
    ...{ inflight: 1, used: 9, price_usd_per_hour: 0.5, age_s: 3_725, last_probe_ago_s: 1 },
    ...{
      quarantine_remaining_s: null,
      engine: 'ready',
      cpu_percent: null,
      rss_bytes: null,
      pages_per_second: 0,
    },
    ...{ card: null, cloud: null, spot: false },
    ...{ settings: null, settings_version: null, warnings: [] },
    ...extra,
  };
}

function status(pods: PodStatus[], extra: Partial<FleetStatus> = {}): FleetStatus {
  const hourly = {
    live_hourly_serving_usd: 0.3,
    live_hourly_booting_usd: 0.2,
    live_hourly_quarantined_usd: 0,
  };
  return {
    ...{
      cluster: 'c',
      at: 'now',
      epoch: 1,
      pools: [],
      pods,
      workers: [],
      leases: [],
      degraded: [],
      alarms: [],
    },
    account: { apis: [], catalogue: null },
    money: {
      ...{ day: '2026-01-05', time_zone: 'UTC', known: true, open_today_usd: 0.02, booting_today_usd: 0.4 },
      ...{ booting_month_usd: 1, leases: [], corrections: [] },
      per_hour: { soft_usd: 2, hard_usd: 3, left_usd: 1.5 },
      per_day: null,
    },
    summary: {
      ...{ pods_ready: 1, pods_booting: 0, pods_quarantined: 0, pods_draining: 0, live_hourly_usd: 0.5 },
      ...{ ...hourly, live_booting_share: 0.4, spend_today_usd: 1.25, spend_month_usd: 31 },
      ...{ pages_in_flight: 1, pages_waiting: 2, pages_per_second: 0.5 },
    },
    ...extra,
  };
}

describe('live events', () => {
  test('each_change_of_a_pod_is_told_once_with_its_reason', () => {
    const before = status([pod('a', 'booting'), pod('b', 'serving')]);
    const now = status([pod('a', 'serving'), pod('b', 'quarantined', { reason: 'refused a connection' })]);
    expect(describeChanges(before, now)).toEqual([
      'pod a booting → serving',
      'pod b serving → quarantined: refused a connection',
    ]);
    expect(describeChanges(now, now)).toEqual([]);
  });

  test('a_pod_that_gets_its_id_is_the_same_pod_not_another_and_a_loss', () => {
    const renting = status([pod('c-ocr-1', 'renting')]);
    const booting = status([pod('local-1', 'booting', { name: 'c-ocr-1' })]);
    expect(describeChanges(renting, booting)).toEqual(['pod c-ocr-1 renting → booting']);
  });

  test('a_pod_that_leaves_the_snapshot_is_gone_and_an_alarm_is_told_once', () => {
    const alarm = { code: 'bus_unavailable', message: 'NATS does not answer', sinceMs: 1 };
    const now = status([], { alarms: [alarm] });
    expect(describeChanges(status([pod('a', 'terminating')]), now)).toEqual([
      'pod a terminating → gone',
      'ALARM bus_unavailable: NATS does not answer',
    ]);
    expect(describeChanges(now, now)).toEqual([]);
  });
});

describe('status as a table', () => {
  test('shows_money_with_the_pods_it_pays_for', () => {
    const text = formatStatus(status([pod('local-1', 'quarantined', { quarantine_remaining_s: 12.4 })]));
    expect(text).toContain('$0.50/h now ($0.30 serving, $0.20 booting, $0.00 set aside)');
    const spent = '$1.25 today and up to $0.02 not counted yet, $31.00 this month (boots: $0.40 today)';
    expect(text).toContain(spent);
    expect(text).toContain('$1.50/h left of $2.00, drains at $3.00\n');
    expect(text).toMatch(/local-1\s+ocr\s+quarantined 12s\s+1\/4\s+9\s+1h 2m\s+0\.50/);
  });

  test('shows_the_leases_that_the_reader_may_see', () => {
    const lease = {
      ...{ lease: 'lease-1', owner: 'alice', name: '', pool: 'ocr', pods: 8, max_pods: 32, require: null },
      ...{ gpu_types: ['NVIDIA A40'], expires_in_s: 90, pods_expire_in_s: 90, max_pods_expire_in_s: 60 },
    };
    const text = formatStatus(status([], { leases: [lease] }));
    expect(text).toMatch(/lease-1\s+alice\s+ocr\s+8\s+32\s+NVIDIA A40\s+1m 30s/);
  });

  test('says_which_source_is_late_and_how_old_its_values_are', () => {
    const degraded = [{ source: 'listing', ageMs: 65_000, reason: 'slow' }];
    expect(formatStatus(status([], { degraded }))).toContain('degraded: listing (1m 5s old): slow');
  });
});

describe('lines of down', () => {
  test('tell_what_is_left', () => {
    const pods = [{ id: 'a', state: 'draining' }];
    expect(describeDownLine({ type: 'progress', remaining: 1, in_flight: 3, pods })).toBe(
      'draining: 1 pods left (draining), 3 pages in flight',
    );
    expect(describeDownLine({ type: 'something_new' })).toBeNull();
  });
});
