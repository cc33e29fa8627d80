import type { Config } from '@pagefleet/contract';
import { mergeReports, NO_LISTING } from '@pagefleet/core';
import { expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';
import { UTC_CALENDAR } from './money/calendar.ts';
import { NO_MONEY } from './money/money-state.ts';
import { buildStatus, type StatusInput } from './status/build-status.ts';

const MONEY = { usdPerHour: 2, usdPerDay: 0, hardUsdPerHour: 0, hardUsdPerDay: 0, timeZone: 'UTC' };

type WorkerRow = StatusInput['workers'][number];

/** A worker that holds these bytes; null = it never reported. */
function worker(number: number, bytes: { memory: number; spool: number } | null): WorkerRow {
  const totals = bytes && { bytesInMemory: bytes.memory, bytesSpooled: bytes.spool, rssBytes: 9 };
  const received = totals && { report: { pools: {}, held: {}, totals }, receivedAtMs: 0 };
  return {
    worker: { worker: number, bootId: 'b', pid: 1, state: 'listening' },
    received,
    ackedRev: null,
  } as unknown as WorkerRow;
}

function statusOf(workers: WorkerRow[]) {
  return buildStatus({
    ...{ nowMs: 0, clusterId: 'us', epoch: 1, registry: new Map(), listing: NO_LISTING, caps: null },
    ...{ offers: null, usage: [] },
    config: { cluster: 'c', pools: [], money: MONEY } as unknown as Config,
    ...{ money: NO_MONEY, today: UTC_CALENDAR.dayAt(0) },
    reports: mergeReports([], { nowMs: 0, epoch: 1, alive: [] }),
    ...{ workers, probes: new Map(), health: new Map(), reasons: new Map(), alarms: [], degraded: [] },
  });
}

test('bytes_held_are_shown_for_each_worker_that_reports, old and new process of one together (R-014, R-092)', async () => {
  const metrics = createMetrics();
  const text = await metrics.render(
    statusOf([worker(0, { memory: 10, spool: 300 }), worker(0, { memory: 5, spool: 0 }), worker(1, null)]),
  );
  const samples = text.match(/^pagefleet_worker_bytes.*$/gm);
  expect(samples?.map((line) => line.replace(',program="controller"', ''))).toEqual([
    'pagefleet_worker_bytes_in_memory{worker="0"} 15',
    'pagefleet_worker_bytes_spooled{worker="0"} 300',
  ]);
  expect(await metrics.render(statusOf([]))).not.toMatch(/^pagefleet_worker_bytes/m);
});

test('money_is_a_metric: what is left of a limit that is set, and the share of boots (R-050, R-051)', async () => {
  const text = (await createMetrics().render(statusOf([]))).replaceAll('program="controller"', '');
  expect(text).toMatch(/^pagefleet_budget_left_usd\{per="hour",\} 2$/m);
  expect(text).not.toMatch(/per="day"/);
  for (const name of [
    'live_booting_share',
    'spend_today_usd',
    'spend_month_usd',
    'booting_today_usd',
    'leases',
  ])
    expect(text, name).toMatch(new RegExp(`^pagefleet_${name}\\{?\\}? 0$`, 'm'));
});
