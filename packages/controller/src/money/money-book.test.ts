import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClientLease, EMPTY_MEMORY, type ListedPod, type Plan, type Pod, spent } from '@pagefleet/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Fleet } from '../fleet.ts';
import { type JournalFs, realJournalFs } from '../journal/journal-fs.ts';
import { servingPod } from '../test-kit/pods.ts';
import { quietLogger } from '../test-kit/quiet-logger.ts';

const HOUR = 3_600_000;
/** Early in a day. */
const T0 = Date.UTC(2026, 0, 5, 1);
const POD: Pod = { ...servingPod('a', undefined, T0), priceUsdPerHour: 0.5, shownAtMs: T0 };
const LEASE: ClientLease = {
  ...{ id: 'l1', owner: 'alice', name: '', pool: 'ocr', narrowing: null },
  floor: { pods: 3, expiresAtMs: T0 + 5 * HOUR },
};

let folder: string;
let nowMs: number;
const open: Fleet[] = [];

beforeEach(async () => {
  nowMs = T0;
  folder = await mkdtemp(join(tmpdir(), 'money-'));
});
afterEach(async () => {
  for (const fleet of open.splice(0)) await fleet.close().catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
});

async function openFleet(fs: JournalFs = realJournalFs): Promise<Fleet> {
  const fleet = await Fleet.open({ folder, logger: quietLogger().logger, nowMs: () => nowMs, fs });
  open.push(fleet);
  return fleet;
}

function listedAs({ id, name, url, priceUsdPerHour, createdAtMs }: Pod): ListedPod {
  const about = { url, priceUsdPerHour, createdAtMs, card: null, cloud: null, mark: null };
  return { id: id ?? '', name, status: 'running', ...about };
}

/** One pass at a listing that shows these pods, of which those that are new are adopted. */
async function pass(fleet: Fleet, shown: readonly Pod[], change: Partial<Plan> = {}): Promise<void> {
  const adoptions = shown.map((pod) => ({ pod, reason: 'a test' }));
  const nothing = { actions: [], transitions: [], forget: [], alarms: [], memory: EMPTY_MEMORY };
  const plan = { ...nothing, nowMs, adoptions, ...change } as unknown as Plan;
  await fleet.pass({
    decide: () => plan,
    openIntent: () => {
      throw new Error('nothing is rented');
    },
    keyRefOf: () => ({ keyId: 'k1', spot: false }),
    newest: () => ({ startedAtMs: nowMs, endedAtMs: nowMs + 100, pods: shown.map(listedAs) }),
  });
}

function usd(fleet: Fleet): number {
  return spent(fleet.money.state.ledger).microUsd / 1e6;
}

async function copyFiles(from: string, to: string): Promise<void> {
  for (const name of ['snapshot.json', 'journal.ndjson'])
    await writeFile(join(to, name), await readFile(join(from, name)));
}

describe('R-051: the ledger in the journal', () => {
  test('what_is_counted_is_on_disk_before_and_a_kill_at_any_moment_loses_no_cent', async () => {
    const fleet = await openFleet();
    const crashed = await mkdtemp(join(tmpdir(), 'money-crash-'));
    try {
      for (let hour = 1; hour <= 4; hour++) {
        nowMs = T0 + hour * HOUR;
        await pass(fleet, [POD]);
        await copyFiles(folder, crashed);
        const again = await Fleet.open({ folder: crashed, logger: quietLogger().logger, nowMs: () => nowMs });
        expect(usd(again)).toBe(hour * 0.5);
        expect(again.money.state.ledger).toEqual(fleet.money.state.ledger);
        await again.close();
      }
    } finally {
      await rm(crashed, { recursive: true, force: true });
    }
  });

  test('what_cannot_be_put_on_disk_does_not_count_but_is_open_and_counts_later', async () => {
    const disk = { full: false };
    const fleet = await openFleet({
      ...realJournalFs,
      async openForWriting(path) {
        const real = await realJournalFs.openForWriting(path);
        const write: typeof real.write = async (data, position) => {
          if (disk.full) throw new Error('no space left');
          await real.write(data, position);
        };
        return { ...real, write };
      },
    });
    nowMs = T0 + HOUR;
    await pass(fleet, [POD]);
    disk.full = true;
    nowMs = T0 + 2 * HOUR;
    await pass(fleet, [POD]);
    expect(usd(fleet)).toBe(0.5);
    expect(fleet.money.spentTodayUsd(nowMs)).toBe(1);
    disk.full = false;
    await pass(fleet, [POD]);
    expect(usd(fleet)).toBe(1);
  });

  test('a_pod_found_after_everything_was_lost_costs_from_its_creation', async () => {
    const fleet = await openFleet();
    nowMs = T0 + 6 * HOUR;
    await pass(fleet, [POD]);
    expect(usd(fleet)).toBe(3);
  });

  test('a_restart_goes_on_where_it_was_and_waits_for_the_bills_of_what_vanished', async () => {
    const first = await openFleet();
    nowMs = T0 + HOUR;
    await pass(first, [POD]);
    await first.close();
    nowMs = T0 + 3 * HOUR;
    const second = await openFleet();
    await pass(second, []);
    const end = {
      event: { kind: 'gone', why: 'gone' },
      podKey: POD.key,
      pool: 'ocr',
      durable: true,
    } as const;
    const gone = { ...end, revision: POD.revision, from: 'serving', to: 'terminated', reason: 'x' } as const;
    await pass(second, [], { transitions: [gone], forget: [POD.key] });
    expect(usd(second)).toBe(0.5);
    await second.close();
    const third = await openFleet();
    expect(third.money.state.ledger.lines.get('id-a')?.closed).toMatchObject({ openUntilMs: nowMs + 100 });
    expect(third.money.spentTodayUsd(nowMs)).toBeCloseTo(1.5, 3);
  });

  test('a_damaged_journal_makes_the_day_unknown_also_after_another_restart_and_the_next_day_known', async () => {
    const first = await openFleet();
    await pass(first, [POD]);
    await first.close();
    const file = join(folder, 'journal.ndjson');
    await writeFile(file, `${await readFile(file, 'utf8')}{"seq":"?"}\n{"seq":"?"}\n`);
    const second = await openFleet();
    expect(second.money.spentTodayUsd(nowMs)).toBeNull();
    await second.close();
    const third = await openFleet();
    expect(third.money.spentTodayUsd(nowMs)).toBeNull();
    expect(third.money.spentTodayUsd(nowMs + 24 * HOUR)).not.toBeNull();
  });

  test('a_pod_that_we_ended_is_counted_until_the_call_began', async () => {
    const fleet = await openFleet();
    await pass(fleet, [POD]);
    await fleet.ended(POD.key, T0 + HOUR);
    expect(usd(fleet)).toBe(0.5);
  });
});

describe('R-053: leases in the journal', () => {
  test('survive_a_restart_with_their_remaining_time_and_end_by_it', async () => {
    const first = await openFleet();
    const given = { ...first.money.state, leases: [LEASE] };
    expect(await first.changeMoney('lease', () => ({ state: given, result: 7 }))).toEqual({
      stored: true,
      result: 7,
    });
    const journal = await readFile(join(folder, 'journal.ndjson'), 'utf8');
    expect(journal).toContain('"l1"');
    await first.close();
    nowMs = T0 + 4 * HOUR;
    const second = await openFleet();
    expect(second.money.leases(nowMs)).toMatchObject([{ id: 'l1', pods: 3, expiresAtMs: T0 + 5 * HOUR }]);
    expect(second.money.leases(T0 + 5 * HOUR)).toEqual([]);
    nowMs = T0 + 5 * HOUR;
    await second.close();
    expect((await openFleet()).money.state.leases).toEqual([]);
  });
});
