import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { caps, decide, EMPTY_MEMORY, NO_LISTING, type Plan, type World } from '@pagefleet/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Fleet, type RentIntent } from './fleet.ts';
import { type JournalFs, realJournalFs } from './journal/journal-fs.ts';
import { keyOf, RENT, rentingPod, servingPod, T0, WATCH } from './test-kit/pods.ts';
import { quietLogger } from './test-kit/quiet-logger.ts';

let folder: string;
const open: Fleet[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fleet-'));
});
afterEach(async () => {
  for (const fleet of open.splice(0)) await fleet.close().catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
});

async function openFleet(fs: JournalFs = realJournalFs): Promise<Fleet> {
  const fleet = await Fleet.open({ folder, logger: quietLogger().logger, nowMs: () => T0, fs });
  open.push(fleet);
  return fleet;
}

function world(fleet: Fleet, change: Partial<World> = {}): World {
  return {
    nowMs: T0,
    clusterId: 'c',
    registry: fleet.registry.pods,
    pools: [],
    watch: WATCH,
    listing: NO_LISTING,
    probes: new Map(),
    providerAnsweredMs: null,
    reports: null,
    offers: null,
    leases: [],
    schedule: [],
    limits: { usdPerHour: null, usdPerDay: null },
    spentTodayUsd: 0,
    memory: fleet.memory,
    stopping: false,
    ...change,
  };
}

function plan(fleet: Fleet, change: Partial<Plan>): Plan {
  const nothing = { actions: [], transitions: [], adoptions: [], forget: [], memory: fleet.memory };
  return { ...decide(world(fleet)), ...nothing, ...change };
}

function diskThatFills(disk: { full: boolean }): JournalFs {
  return {
    ...realJournalFs,
    async openForWriting(path) {
      const real = await realJournalFs.openForWriting(path);
      const write: typeof real.write = async (data, position) => {
        if (disk.full) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
        await real.write(data, position);
      };
      return { ...real, write };
    },
  };
}

const rents = (count: number) => Array.from({ length: count }, () => RENT);

function pass(fleet: Fleet, change: Partial<Plan>, names: string[] = []) {
  return fleet.pass({
    decide: () => plan(fleet, change),
    openIntent: (): RentIntent => ({
      pod: rentingPod(names.shift() ?? 'x'),
      offer: null,
      keyRef: { keyId: 'k1', spot: false },
    }),
    keyRefOf: () => ({ keyId: 'listed', spot: true }),
    newest: () => null,
  });
}

describe('the owner of the pods', () => {
  test('an_intent_is_on_disk_before_anybody_may_pay_for_it', async () => {
    const fleet = await openFleet();
    const { intents } = await pass(fleet, { actions: rents(2) }, ['a', 'b']);
    // Read as another process would, at the very moment the caller may call the provider.
    const journal = await readFile(join(folder, 'journal.ndjson'), 'utf8');
    for (const intent of intents) expect(journal).toContain(intent.pod.key);
    expect(intents.map((intent) => intent.pod.name)).toEqual(['a', 'b']);
    expect(fleet.registry.pods.size).toBe(2);
  });

  test('what_cannot_be_put_on_disk_is_not_rented_and_serving_goes_on', async () => {
    const disk = { full: false };
    const fleet = await openFleet(diskThatFills(disk));
    await pass(fleet, { adoptions: [{ pod: servingPod('s'), reason: 'a test' }] });
    disk.full = true;
    expect((await pass(fleet, { actions: rents(1) }, ['a'])).intents).toEqual([]);
    expect(fleet.canStore).toBe(false);
    expect([...fleet.registry.pods.values()].map((pod) => pod.state)).toEqual(['serving']);
    disk.full = false;
    expect((await pass(fleet, { actions: rents(1) }, ['b'])).intents).toHaveLength(1);
    expect(fleet.canStore).toBe(true);
  });

  test('a_restart_finds_pods_epoch_keys_and_what_was_learnt', async () => {
    const first = await openFleet();
    await first.recordEpoch(4, 'me');
    await pass(first, {
      adoptions: [{ pod: servingPod('a'), reason: 'a test' }],
      memory: { ...EMPTY_MEMORY, pools: {} },
    });
    await first.close();
    const second = await openFleet();
    expect(second.epoch).toBe(4);
    expect(second.registry.get(keyOf('a'))).toMatchObject({ state: 'serving', id: 'id-a' });
    expect(second.registry.keyRef(keyOf('a'))).toEqual({ keyId: 'listed', spot: true });
  });

  test('adopting_twice_changes_nothing', async () => {
    const fleet = await openFleet();
    const adoptions = [{ pod: servingPod('a'), reason: 'a test' }];
    await pass(fleet, { adoptions });
    const before = fleet.registry.get(keyOf('a'));
    await pass(fleet, { adoptions });
    expect(fleet.registry.pods.size).toBe(1);
    expect(fleet.registry.get(keyOf('a'))?.state).toBe(before?.state);
    expect(fleet.registry.keyRef(keyOf('a'))).toEqual({ keyId: 'listed', spot: true });
  });

  test('a_transition_whose_revision_has_moved_is_dropped', async () => {
    const fleet = await openFleet();
    const pod = servingPod('a');
    await pass(fleet, { adoptions: [{ pod, reason: 'a test' }] });
    const drain = { kind: 'drain', why: 'idle', deadlineMs: T0 } as const;
    const step = {
      podKey: pod.key,
      pool: pod.pool,
      from: 'serving',
      to: 'draining',
      event: drain,
      durable: true,
      reason: 'x',
    } as const;
    await pass(fleet, { transitions: [{ ...step, revision: pod.revision + 5 }] });
    expect(fleet.registry.get(pod.key)?.state).toBe('serving');
    await pass(fleet, { transitions: [{ ...step, revision: pod.revision }] });
    expect(fleet.registry.get(pod.key)?.state).toBe('draining');
  });

  test('the_outcome_of_a_paid_call_is_true_whatever_has_happened_since', async () => {
    const fleet = await openFleet();
    await pass(fleet, { actions: rents(1) }, ['a']);
    const created = { kind: 'created', id: 'id-a', url: null, priceUsdPerHour: 0 } as const;
    await fleet.report(keyOf('a'), created, 'durable');
    expect(fleet.registry.get(keyOf('a'))).toMatchObject({ state: 'booting', id: 'id-a' });
    await fleet.close();
    const again = await openFleet();
    expect(again.registry.get(keyOf('a'))).toMatchObject({ state: 'booting', id: 'id-a' });
  });

  test('a_pool_that_holds_its_cap_after_a_restart_rents_nothing_more', async () => {
    const first = await openFleet();
    await pass(first, { actions: rents(1) }, ['a']);
    await first.report(keyOf('a'), { kind: 'calling' }, 'durable');
    await first.close();
    const second = await openFleet();
    const pool = { name: 'ocr', models: [], configHash: 'hash', width: 2, minPods: 1, maxPods: 1 };
    const times = { bootDeadlineMs: 60_000, bootEstimateMs: 1_000, rampPods: 4, graceMs: 1_000 };
    const prices = {
      free: true,
      policy: null,
      offer: null,
      maxAgeMs: null,
      priceUsdPerHour: 0,
      maxPriceUsdPerHour: null,
    };
    const seen = world(second, { pools: [{ ...pool, ...times, ...prices }] });
    expect(caps(seen).pools.get('ocr')).toMatchObject({ existing: 1, room: 0 });
  });
});
