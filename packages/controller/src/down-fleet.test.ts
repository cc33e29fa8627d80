import { type ListingHistory, type Pod, recordListing } from '@pagefleet/core';
import { describe, expect, test } from 'vitest';
import { downFleet } from './down-fleet.ts';
import { servingPod, T0 } from './test-kit/pods.ts';

/** A fleet whose pods end when they are told, and listings that come when asked for. */
function setUp(options: {
  ends: boolean;
  listsStranger?: boolean;
  pages?: (number | null)[];
  stepMs?: number;
}) {
  let pods: Pod[] = [servingPod('a'), servingPod('b')];
  // Two empty listings of a moment ago: they prove nothing about pods that were there after them.
  const before = { startedAtMs: T0 - 20, endedAtMs: T0 - 10, pods: [] };
  let listing: ListingHistory = {
    newest: before,
    previous: { ...before, startedAtMs: T0 - 40, endedAtMs: T0 - 30 },
  };
  let now = T0;
  const stops: number[] = [];
  const steps: string[] = [];
  const pages = [...(options.pages ?? [0])];
  const mark = (clusterId: string) => ({
    clusterId,
    podKey: 'k',
    pool: 'ocr',
    width: 1,
    configHash: 'h',
    spot: false,
  });
  const deps = {
    clusterId: 'us',
    nowMs: () => {
      now += options.stepMs ?? 2_000;
      return now;
    },
    sleep: async () => undefined,
    pods: () => pods,
    listing: () => listing,
    closeDoor: () => void steps.push('closed'),
    pagesLeft: () => {
      const left = pages.length > 1 ? pages.shift() : pages[0];
      steps.push(`${left} left`);
      return left ?? null;
    },
    stop: (drainTimeoutMs: number) => {
      steps.push('stopped');
      stops.push(drainTimeoutMs);
      if (options.ends) pods = [];
    },
    wantListing: () => {
      const stranger = {
        id: 'x',
        name: 'x',
        status: 'running',
        url: null,
        priceUsdPerHour: 0,
        createdAtMs: 0,
      } as const;
      const theirs = options.listsStranger ? mark('us') : mark('others');
      now += 1;
      const startedAtMs = now;
      now += 1;
      const entry = { ...stranger, card: null, cloud: null, mark: theirs };
      listing = recordListing(listing, { startedAtMs, endedAtMs: now, pods: [entry] });
    },
    inFlight: () => 3,
    hourlyUsd: () => 0,
    graceMs: 60_000,
  };
  const run = async (keepPods: boolean) => {
    const lines: { type: string; [key: string]: unknown }[] = [];
    const request = { keepPods, drainTimeoutMs: null };
    for await (const line of downFleet(request, deps)) lines.push(line);
    return lines;
  };
  return { run, stops, steps, listing: () => listing };
}

describe('down (DESIGN 3, Stopping)', () => {
  test('is_done_only_when_two_listings_begun_after_the_last_pod_left_show_none_of_ours', async () => {
    const { run, listing, stops } = setUp({ ends: true });
    const lines = await run(false);
    expect(stops).toHaveLength(1);
    expect(lines.at(-1)).toEqual({ type: 'done', ended: 0, remaining: [], live_hourly_usd: 0 });
    expect(listing().previous?.startedAtMs).toBeGreaterThan(T0);
  });

  test('the_door_is_closed_first_and_the_pages_that_are_in_are_read_before_pods_leave', async () => {
    const { run, steps } = setUp({ ends: true, pages: [5, 2, 0] });
    await run(false);
    expect(steps).toEqual(['closed', '5 left', '2 left', '0 left', 'stopped']);
  });

  test('pages_that_came_in_as_the_door_closed_are_not_overlooked', async () => {
    const { run, steps } = setUp({ ends: true, pages: [0, 3, 0], stepMs: 300 });
    await run(false);
    expect(steps).toContain('3 left');
  });

  test('what_nobody_can_say_or_what_never_ends_holds_nothing_up_for_ever', async () => {
    const unknown = setUp({ ends: true, pages: [null] });
    await unknown.run(false);
    expect(unknown.steps).toEqual(['closed', 'null left', 'stopped']);
    const endless = setUp({ ends: true, pages: [7] });
    await endless.run(false);
    expect(endless.steps.filter((step) => step === '7 left').length).toBeGreaterThan(1);
    expect(endless.steps.at(-1)).toBe('stopped');
  });

  test('a_pod_of_ours_that_only_the_listing_knows_is_not_overlooked', async () => {
    const lines = await setUp({ ends: true, listsStranger: true }).run(false);
    expect(lines.at(-1)).toMatchObject({ type: 'failed', code: 'pods_remain', remaining: ['x'] });
  });

  test('pods_that_do_not_end_are_named_because_they_may_still_bill', async () => {
    const lines = await setUp({ ends: false }).run(false);
    expect(lines[0]).toMatchObject({ type: 'progress', remaining: 2, in_flight: 6 });
    expect(lines.at(-1)).toMatchObject({ type: 'failed', remaining: ['id-a', 'id-b'] });
  });

  test('an_unchanged_state_is_told_again_so_that_silence_never_means_the_end', async () => {
    const lines = await setUp({ ends: false }).run(false);
    expect(lines.filter((line) => line.type === 'progress').length).toBeGreaterThan(3);
  });

  test('kept_pods_are_named_with_what_they_bill_and_nothing_is_stopped', async () => {
    const { run, stops } = setUp({ ends: true });
    const lines = await run(true);
    expect(stops).toEqual([]);
    expect(lines).toMatchObject([
      { type: 'kept', pods: [{ id: 'id-a' }, { id: 'id-b' }], live_hourly_usd: 0 },
    ]);
  });
});
