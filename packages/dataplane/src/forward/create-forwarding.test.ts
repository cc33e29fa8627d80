import type { SlicePod } from '@pagefleet/contract';
import { SlotBook } from '@pagefleet/core';
import type { Logger } from '@pagefleet/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import { createMetrics } from '../metrics.ts';
import type { PoolDirectory } from '../pool-directory.ts';
import type { PageJob, PageOutcome } from '../queue/page-job.ts';
import { createPoolQueues } from '../queue/pool-queues.ts';
import { createForwarding, type Forwarding } from './create-forwarding.ts';
import { createPageSender } from './send-page.ts';

const SLOT_AGE_LIMIT_MS = 900_000;
const BOOT_DEADLINE_MS = 120_000;
const PAGE_DEADLINE_MS = 60_000;

const UNHEARD = { readingAsked: () => undefined, readingRejected: () => undefined };
const sendPage = createPageSender(UNHEARD);

const opened: Forwarding[] = [];
afterEach(async () => {
  for (const forwarding of opened.splice(0)) await forwarding.pods.close();
});

/** Forwarding as a worker has it, with a clock that the test sets and nobody at the pods' addresses. */
function forwardingAt(startMs: number) {
  const clock = { nowMs: startMs };
  const nowMs = () => clock.nowMs;
  const slots = new SlotBook();
  const queues = createPoolQueues();
  const events: [string, object][] = [];
  const log = (fields: object, event: string) => void events.push([event, fields]);
  const figures = { inFlight: () => [], waiting: () => [], unsplit: () => [], held: () => 0, bytes: () => 0 };
  const metrics = createMetrics({ ...figures, loopDelayP99Ms: () => 0 }, nowMs);
  const forwarding = createForwarding({
    ...{ clusterId: 'us', metrics, nowMs, slots, queues },
    logger: { info: log, warn: log, error: log } as unknown as Logger,
    pools: { suspendedUntilMs: () => 0 } as unknown as PoolDirectory,
    podConnections: (width) => width,
    settings: {
      ...{ pageAttempts: 3, pageDeadlineMs: PAGE_DEADLINE_MS, connectTimeoutMs: 1_000 },
      ...{ probeIntervalMs: 45_000, probeTimeoutMs: 1_000, trialDelayMs: 5_000 },
    },
    maxInFlight: () => 10,
    bootDeadlineMs: () => BOOT_DEADLINE_MS,
    onUrgent: () => undefined,
  });
  opened.push(forwarding);
  const count = async (metric: string) => {
    const line = (await metrics.render()).split('\n').find((text) => text.startsWith(`${metric} `));
    return Number(line?.split(' ')[1]);
  };
  return { clock, slots, queues, events, forwarding, count };
}

function podOf(id: string): SlicePod {
  return {
    ...{
      id,
      pool: 'ocr',
      url: 'http://127.0.0.1:9',
      token: 't',
      width: 1,
      mode: 'serve',
      answeredSuspect: 0,
    },
  };
}

function pageOf(id: string, outcomes: PageOutcome<unknown>[]): PageJob {
  const body = { place: 'memory' as const, chunks: [Buffer.from('x')], size: 1, release: () => undefined };
  return {
    ...{ id, pool: 'ocr', key: 'k', document: 'd', enqueuedAtMs: 0, what: 'page' },
    send: (dispatch) => sendPage({ body, kind: 'png', options: {} }, dispatch),
    ...{ requestId: 'r', signal: new AbortController().signal, attempts: [], dispatches: 0 },
    exclude: new Set(),
    deadlineAtMs: null,
    settle: (outcome) => void outcomes.push(outcome),
  };
}

describe('the sweep of old slots (R-020)', () => {
  test('a_slot_older_than_15_minutes_is_given_back_counted_and_logged_and_one_of_15_minutes_is_not', async () => {
    const { clock, slots, events, forwarding, count } = forwardingAt(0);
    slots.takeSlot({ podId: 'a', pageId: 'lost-1', width: 2, nowMs: 0 });
    slots.takeSlot({ podId: 'a', pageId: 'younger-1', width: 2, nowMs: 1 });
    clock.nowMs = SLOT_AGE_LIMIT_MS;
    forwarding.tick();
    expect(slots.total).toBe(2);
    clock.nowMs = SLOT_AGE_LIMIT_MS + 1;
    forwarding.tick();
    expect(slots.inflight('a')).toBe(1);
    expect(events).toEqual([['slot_swept', { pod: 'a', page: 'lost-1' }]]);
    expect(await count('pagefleet_slots_swept_total')).toBe(1);
  });

  test('the_width_that_comes_back_goes_to_a_page_that_waits', () => {
    const { clock, slots, queues, forwarding } = forwardingAt(0);
    forwarding.pods.apply([podOf('a')]);
    slots.takeSlot({ podId: 'a', pageId: 'lost-1', width: 1, nowMs: 0 });
    const page = pageOf('p', []);
    forwarding.submit(page);
    expect(queues.waiting('ocr')).toBe(1);
    clock.nowMs = SLOT_AGE_LIMIT_MS + 1;
    forwarding.tick();
    expect(page.dispatches).toBe(1);
    expect(queues.waiting('ocr')).toBe(0);
  });
});

describe('a fault of ours while a page is dispatched (R-020)', () => {
  test('gives_the_slot_back_and_fails_the_page_instead_of_leaving_both_to_the_sweep', async () => {
    const { slots, events, forwarding } = forwardingAt(0);
    forwarding.pods.apply([podOf('a')]);
    forwarding.pods.suspects.raise = () => {
      throw new Error('a fault of ours');
    };
    const slotsWhenAsked: number[] = [];
    Object.assign(forwarding.pods.find('a')?.client ?? {}, {
      delete: () => {
        slotsWhenAsked.push(slots.total);
        return Promise.reject(new Error('nobody answers'));
      },
    });
    const outcomes: PageOutcome<unknown>[] = [];
    forwarding.submit(pageOf('p', outcomes));
    await expect.poll(() => outcomes, { timeout: 5_000 }).toHaveLength(1);
    expect(outcomes).toMatchObject([{ kind: 'failed', error: { code: 'internal' } }]);
    expect(slots.total).toBe(0);
    // Its reading may still run: the pod is asked to end it while the slot is held.
    expect(slotsWhenAsked).toContain(1);
    expect(slotsWhenAsked).not.toContain(0);
    expect(events.map(([event]) => event)).toContain('page_run_failed');
  });

  test('ends_the_request_that_runs_now_where_a_dispatch_takes_several', async () => {
    const { forwarding } = forwardingAt(0);
    forwarding.pods.apply([podOf('a')]);
    const ended = new Set<string>();
    Object.assign(forwarding.pods.find('a')?.client ?? {}, {
      delete: async (path: string) => {
        ended.add(path);
        return { status: 200, text: '{"state":"over"}' };
      },
    });
    const outcomes: PageOutcome<unknown>[] = [];
    forwarding.submit({
      ...pageOf('p', outcomes),
      send: async (dispatch) => {
        dispatch.reading = `${dispatch.id}.2`;
        throw new Error('a fault of ours');
      },
    });
    await expect.poll(() => outcomes, { timeout: 5_000 }).toHaveLength(1);
    expect([...ended]).toEqual(['/v1/page/p-1.2']);
  });
});

describe('pages without a pod', () => {
  const HOPELESS_MS = BOOT_DEADLINE_MS + PAGE_DEADLINE_MS;

  test('wait_for_a_boot_and_a_page_and_then_fail_as_an_outage', () => {
    const { clock, queues, forwarding } = forwardingAt(5_000);
    const outcomes: PageOutcome<unknown>[] = [];
    for (const id of ['p', 'q']) forwarding.submit(pageOf(id, outcomes));
    forwarding.tick();
    clock.nowMs = 5_000 + HOPELESS_MS;
    forwarding.tick();
    expect(outcomes).toEqual([]);
    clock.nowMs += 1;
    forwarding.tick();
    const outage = { kind: 'failed', error: { code: 'no_capacity' } };
    expect(outcomes).toMatchObject([outage, outage]);
    expect(queues.waiting('ocr')).toBe(0);
  });

  test('wait_anew_whenever_there_was_a_pod_even_one_that_takes_no_pages', () => {
    const { clock, forwarding } = forwardingAt(0);
    const outcomes: PageOutcome<unknown>[] = [];
    forwarding.submit(pageOf('p', outcomes));
    forwarding.tick();
    clock.nowMs = HOPELESS_MS;
    forwarding.pods.apply([{ ...podOf('a'), mode: 'drain' }]);
    forwarding.tick();
    forwarding.pods.apply([]);
    forwarding.tick();
    clock.nowMs = 2 * HOPELESS_MS;
    forwarding.tick();
    expect(outcomes).toEqual([]);
  });
});

describe('a shortage of ours (R-026)', () => {
  test('costs_neither_an_attempt_nor_the_pods_name_and_is_counted_by_itself', async () => {
    const { slots, queues, events, forwarding, count } = forwardingAt(0);
    forwarding.pods.apply([podOf('a')]);
    // The page finds our own connections closed: nothing is sent, and nobody else is to blame.
    await forwarding.pods.find('a')?.client.destroy();
    const outcomes: PageOutcome<unknown>[] = [];
    const page = pageOf('p', outcomes);
    forwarding.submit(page);
    await expect.poll(() => page.attempts.length).toBe(1);
    expect(page.attempts[0]).toMatchObject({ verdict: { code: 'local_shortage', counted: false } });
    expect(forwarding.pods.suspects.suspicion('a')).toBeUndefined();
    expect(events.map(([event]) => event)).toEqual(['page_dispatch_failed']);
    expect(forwarding.pods.statsOf('a').used).toBe(0);
    expect(page.exclude.size).toBe(0);
    expect(slots.total).toBe(0);
    expect(outcomes).toEqual([]);
    // It pauses, still counted as waiting, so that it does not spin.
    expect(queues.waiting('ocr')).toBe(1);
    expect(await count('pagefleet_shortages_total')).toBe(1);
    expect(forwarding.withdraw(page)).toBe(true);
  });

  test('that_lasts_to_the_deadline_is_told_by_its_own_code_with_the_limit', async () => {
    const { clock, slots, forwarding } = forwardingAt(0);
    forwarding.pods.apply([podOf('a')]);
    await forwarding.pods.find('a')?.client.destroy();
    const outcomes: PageOutcome<unknown>[] = [];
    forwarding.submit(pageOf('p', outcomes));
    clock.nowMs = PAGE_DEADLINE_MS;
    await expect.poll(() => outcomes).toHaveLength(1);
    expect(outcomes).toMatchObject([{ kind: 'failed', error: { code: 'local_shortage' } }]);
    expect(outcomes[0]?.kind === 'failed' && outcomes[0].error.message).toContain('connections');
    expect(slots.total).toBe(0);
  });
});
