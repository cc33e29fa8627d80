import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, PagefleetError, type ScaleRequest } from '@pagefleet/contract';
import { EMPTY_MEMORY, NO_LISTING, type PoolSettings, type World } from '@pagefleet/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Fleet } from '../fleet.ts';
import { realJournalFs } from '../journal/journal-fs.ts';
import { slicePools } from '../slices/slice-record.ts';
import { T0, WATCH } from '../test-kit/pods.ts';
import { quietLogger } from '../test-kit/quiet-logger.ts';
import { fleetOnlyKeys } from './fleet-only-keys.ts';
import { createLeaseDesk, type LeaseDesk } from './lease-desk.ts';

const ALICE = { name: 'alice', role: 'client' } as const;
const BOB = { name: 'bob', role: 'client' } as const;
const OPERATOR = { name: 'operator', role: 'operator' } as const;
const POOL: PoolSettings = {
  ...{ name: 'ocr', models: [], configHash: 'h', width: 2, minPods: 1, maxPods: 20, rampPods: 4, graceMs: 1 },
  ...{ bootDeadlineMs: 1, bootEstimateMs: 1, free: true, offer: null, maxAgeMs: null, priceUsdPerHour: 0 },
  ...{ maxPriceUsdPerHour: null, policy: null },
};

let folder: string;
let fleet: Fleet;
let desk: LeaseDesk;
let nowMs: number;
let passes: number;
let disk: { full: boolean };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'desk-'));
  disk = { full: false };
  nowMs = T0;
  passes = 0;
  await openDesk();
});
afterEach(async () => {
  await fleet.close();
  await rm(folder, { recursive: true, force: true });
});

async function openDesk(): Promise<void> {
  const { logger } = quietLogger();
  const fs = {
    ...realJournalFs,
    async openForWriting(path: string) {
      if (disk.full) throw new Error('no space left');
      const real = await realJournalFs.openForWriting(path);
      const write: typeof real.write = async (data, position) => {
        if (disk.full) throw new Error('no space left');
        await real.write(data, position);
      };
      return { ...real, write };
    },
  };
  fleet = await Fleet.open({ folder, logger, nowMs: () => nowMs, fs });
  desk = createLeaseDesk({
    ...{ fleet, logger, nowMs: () => nowMs },
    world: () => world(),
    requestPass: () => {
      passes += 1;
    },
  });
}

function world(): World {
  return {
    ...{ nowMs, clusterId: 'c', registry: new Map(), pools: [POOL], watch: WATCH, listing: NO_LISTING },
    ...{ probes: new Map(), providerAnsweredMs: null, reports: null, offers: null, schedule: [] },
    leases: fleet.money.leases(nowMs),
    limits: { usdPerHour: null, usdPerDay: null },
    ...{ spentTodayUsd: 0, memory: EMPTY_MEMORY, stopping: false },
  };
}

async function failure(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (cause: unknown) => cause,
  );
  return error instanceof PagefleetError ? error.code : 'none';
}

describe('R-053, R-054: leases at the desk', () => {
  test('eight_pods_then_thirty_two_by_one_call_each_and_what_is_too_much_is_said', async () => {
    const first = await desk.scale(ALICE, { pods: 8, ttl_s: 600 });
    expect(first).toMatchObject({
      ...{ pool: 'ocr', owner: 'alice', pods: 8, max_pods: null, expires_in_s: 600, released: false },
      ...{ effective_pods: 8, effective_max_pods: 20, binding: 'max_pods', notes: [] },
    });
    const second = await desk.scale(ALICE, { pods: 32, ttl_s: 60 });
    expect(second).toMatchObject({ lease: first.lease, pods: 20, expires_in_s: 60 });
    expect(second.notes.join()).toContain('32');
    expect(passes).toBe(2);
  });

  test('a_cap_of_one_client_holds_back_the_floor_of_another_and_the_answer_says_so', async () => {
    await desk.scale(BOB, { max_pods: 2 });
    const reply = await desk.scale(ALICE, { pods: 8 });
    expect(reply).toMatchObject({ pods: 8, effective_pods: 2, effective_max_pods: 2, binding: 'lease' });
    expect(reply.notes.join()).toContain('2 of 8 pods');
  });

  test('survive_a_restart_with_the_time_that_is_left', async () => {
    const { lease } = await desk.scale(ALICE, { pods: 3, ttl_s: 600 });
    await fleet.close();
    nowMs += 200_000;
    await openDesk();
    expect(desk.list(ALICE)).toMatchObject([{ lease, pods: 3, expires_in_s: 400 }]);
    nowMs += 400_000;
    expect(desk.list(ALICE)).toEqual([]);
  });

  test('clients_see_and_release_their_own_and_operators_all', async () => {
    const { lease } = await desk.scale(ALICE, { pods: 3 });
    expect(desk.list(BOB)).toEqual([]);
    expect(desk.list(OPERATOR)).toHaveLength(1);
    expect(await failure(desk.release(BOB, lease ?? ''))).toBe('not_found');
    expect(await desk.release(OPERATOR, lease ?? '')).toMatchObject({
      lease,
      released: true,
      effective_pods: 1,
    });
    expect(await failure(desk.release(ALICE, lease ?? ''))).toBe('not_found');
    expect(world().leases).toEqual([]);
  });

  test('whose_pages_no_fallback_reads_is_told_to_the_workers_while_the_lease_lasts (R-022)', async () => {
    await desk.scale(ALICE, { pods: 1, require: 'fleet', ttl_s: 60 });
    await desk.scale(BOB, { pods: 1 });
    const config = { pools: [{ name: 'ocr', models: [], vllm: { loras: [] } }] } as unknown as Config;
    const told = () =>
      slicePools(config, [], {
        suspendedUntilMs: () => 0,
        fleetOnly: (pool) => fleetOnlyKeys(fleet.money.state.leases, pool, nowMs),
      });
    const pool = { name: 'ocr', models: [], suspendedUntilMs: 0, servingPods: 0 };
    expect(told()).toEqual([{ ...pool, fleetOnly: ['alice'] }]);
    nowMs += 60_000;
    expect(told()).toEqual([pool]);
  });

  test('what_cannot_be_put_on_disk_is_not_granted', async () => {
    disk.full = true;
    expect(await failure(desk.scale(ALICE, { pods: 3 }))).toBe('local_shortage');
    expect(desk.list(ALICE)).toEqual([]);
    disk.full = false;
    expect(await failure(desk.scale(ALICE, { pods: 3 }))).toBe('none');
  });

  test.each<[ScaleRequest, string]>([
    [{ pods: 1, pool: 'other' }, 'bad_request'],
    [{ ttl_s: 5 }, 'bad_request'],
    [{ lease: 'lease-x', ttl_s: 5 }, 'not_found'],
  ])('%j is refused with %s', async (body, code) => {
    expect(await failure(desk.scale(ALICE, body))).toBe(code);
  });

  test('a_key_without_end_of_names_gets_a_clear_end', async () => {
    for (let n = 0; n < 16; n++) await desk.scale(ALICE, { pods: 1, name: `n${n}` });
    expect(await failure(desk.scale(ALICE, { pods: 1, name: 'one more' }))).toBe('conflict');
  });
});
