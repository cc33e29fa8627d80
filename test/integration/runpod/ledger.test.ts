import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fleet } from '@pagefleet/controller/renting';
import {
  type CompleteListing,
  EMPTY_MEMORY,
  isGone,
  lists,
  type Plan,
  type PlannedTransition,
  type Pod,
  type PodEvent,
  settleBills,
  spent,
} from '@pagefleet/core';
import type { Provider } from '@pagefleet/providers';
import { createLogger } from '@pagefleet/runtime';
import type { FakeRunpod } from '@pagefleet/sim/fake-runpod';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openRunpod, order } from './runpod-account.ts';

const HOUR_MS = 3_600_000;
const HOURS = 1_000;
const LONGEST_PAUSE_MS = 3 * HOUR_MS;
const MOST_PODS = 5;

/** A controller's fleet and journal in front of a RunPod account, driven by hand on the account's own clock. */
class Rig {
  readonly fleet: Fleet;
  readonly #provider: Provider;
  readonly #fake: FakeRunpod;
  #newest: CompleteListing | null = null;

  constructor(fleet: Fleet, provider: Provider, fake: FakeRunpod) {
    this.fleet = fleet;
    this.#provider = provider;
    this.#fake = fake;
  }

  serving(): Pod[] {
    return [...this.fleet.registry.pods.values()].filter((pod) => pod.state === 'serving');
  }

  spentUsd(): number {
    return spent(this.fleet.money.state.ledger).microUsd / 1e6;
  }

  async rent(): Promise<void> {
    const request = order();
    const outcome = await this.#provider.rent(request);
    if (outcome.kind !== 'rented') throw new Error(`not rented: ${JSON.stringify(outcome)}`);
    const { id, createdAtMs, priceUsdPerHour } = outcome.pod;
    const { podKey: key, name, pool } = request.mark;
    const common = { key, name, pool, width: 1, url: null, offer: null, configHash: 'h', answered: {} };
    const times = { bootDeadlineMs: 1, sinceMs: createdAtMs, nextProbeMs: 0, shownAtMs: null };
    const pod: Pod = {
      ...{ ...common, ...times, id, createdAtMs, priceUsdPerHour, revision: 1, asked: null },
      state: 'serving',
    };
    await this.#pass({ adoptions: [{ pod, reason: 'rented' }] });
  }

  /** As `actOnPod` does it. */
  async end(pod: Pod): Promise<void> {
    await this.#pass({ transitions: [step(pod, 'terminating', { kind: 'end', why: 'idle' })] });
    const askedAtMs = this.#fake.nowMs();
    const answer = await this.#provider.terminate(pod.id ?? '');
    if (answer !== 'absent') await this.fleet.ended(pod.key, askedAtMs);
  }

  /** … and what `decide` finds in it. */
  async list(): Promise<void> {
    const previous = this.#newest;
    const entries = await this.#provider.list();
    const startedAtMs = this.#fake.nowMs();
    this.#newest = { startedAtMs, endedAtMs: startedAtMs, pods: entries };
    const pods = [...this.fleet.registry.pods.values()];
    const seen = pods.filter((pod) => this.#newest !== null && lists(this.#newest, pod));
    const gone = pods.filter((pod) => isGone(pod, { newest: this.#newest, previous }, startedAtMs));
    const shown = { kind: 'seen', atMs: startedAtMs, url: null, priceUsdPerHour: null } as const;
    await this.#pass({
      transitions: [
        ...seen.map((pod) => step(pod, pod.state, shown)),
        ...gone.map((pod) => step(pod, 'terminated', { kind: 'gone', why: 'gone' })),
      ],
      forget: gone.map(({ key }) => key),
    });
  }

  async readBills(fromMs: number): Promise<void> {
    const records = await this.#provider.billed(fromMs);
    const { dayAt } = this.fleet.money.calendar;
    await this.fleet.changeMoney('bills', (state, nowMs) => ({
      state: { ...state, ledger: settleBills(state.ledger, records, { nowMs, dayAt }) },
      result: null,
    }));
  }

  async #pass(change: Partial<Plan>): Promise<void> {
    const nowMs = this.#fake.nowMs();
    const nothing = { actions: [], transitions: [], adoptions: [], forget: [], memory: EMPTY_MEMORY };
    await this.fleet.pass({
      decide: () => ({ ...nothing, nowMs, ...change }) as unknown as Plan,
      openIntent: () => {
        throw new Error('rents are driven by hand');
      },
      keyRefOf: () => ({ keyId: 'k', spot: false }),
      newest: () => this.#newest,
    });
  }
}

function step(pod: Pod, to: Pod['state'], event: PodEvent): PlannedTransition {
  const { key: podKey, pool, revision, state: from } = pod;
  return { podKey, pool, revision, from, to, event, durable: true, reason: 'a test' };
}

async function openRig() {
  const account = await openRunpod({ startMs: Date.UTC(2026, 0, 1), speed: 0 });
  const { fake } = account;
  account.clock.nowMs = () => fake.nowMs();
  const folder = mkdtempSync(join(tmpdir(), 'pf-ledger-'));
  const logger = createLogger({ component: 'test', level: 'silent' });
  const fleet = await Fleet.open({ folder, logger, nowMs: () => fake.nowMs() });
  onTestFinished(async () => {
    await fleet.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const rig = new Rig(fleet, account.open(), fake);
  const remove = (id: string) =>
    fetch(`${fake.restV2Url}/pods/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${fake.apiKey}`, 'user-agent': 'a person at the console' },
    });
  return { fake, rig, remove };
}

/** Park and Miller's: the same hours every time. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

describe('R-051: the ledger against the bill of a thousand random hours', () => {
  test('pods_that_we_ended_cost_to_the_cent_what_was_billed_without_a_look_at_the_bill', async () => {
    const { fake, rig } = await openRig();
    const roll = dice(7);
    const startMs = fake.nowMs();
    while (fake.nowMs() < startMs + HOURS * HOUR_MS) {
      await fake.advance(Math.ceil(roll() * LONGEST_PAUSE_MS));
      const [any] = rig.serving();
      const act = roll();
      if (act < 0.35 && rig.serving().length < MOST_PODS) await rig.rent();
      else if (act < 0.6 && any !== undefined) await rig.end(any);
      else await rig.list();
      expect(rig.spentUsd()).toBeLessThanOrEqual(fake.costUsd() + 1e-4);
    }
    for (const pod of rig.serving()) await rig.end(pod);
    const bill = fake.costUsd();
    expect(fake.pods().length).toBeGreaterThan(100);
    expect(Math.abs(rig.spentUsd() - bill)).toBeLessThan(0.005);
  }, 120_000);

  test('pods_that_vanish_are_counted_while_they_were_seen_and_their_bills_close_the_rest_to_the_cent', async () => {
    const { fake, rig, remove } = await openRig();
    const roll = dice(11);
    const startMs = fake.nowMs();
    let before = 0;
    while (fake.nowMs() < startMs + HOURS * HOUR_MS) {
      await fake.advance(Math.ceil(roll() * LONGEST_PAUSE_MS));
      const [any] = rig.serving();
      const act = roll();
      if (act < 0.3 && rig.serving().length < MOST_PODS) await rig.rent();
      else if (act < 0.45 && any !== undefined) await remove(any.id ?? '');
      else if (act < 0.6 && any !== undefined) await rig.end(any);
      else await rig.list();
      if (roll() < 0.3) await rig.readBills(startMs);
      expect(rig.spentUsd()).toBeGreaterThanOrEqual(before);
      expect(rig.spentUsd()).toBeLessThanOrEqual(fake.costUsd() + 1e-4);
      before = rig.spentUsd();
    }
    await fake.advance(60_000);
    for (const pod of rig.serving()) await rig.end(pod);
    for (let n = 0; n < 3; n++) {
      await fake.advance(HOUR_MS);
      await rig.list();
    }
    const seen = rig.spentUsd();
    for (let n = 0; n < 2; n++) await rig.readBills(startMs);
    expect(fake.costUsd() - seen).toBeGreaterThan(0.005);
    expect(Math.abs(rig.spentUsd() - fake.costUsd())).toBeLessThan(0.005);
    expect(rig.fleet.money.state.ledger.lines.size).toBe(0);
    expect(rig.fleet.money.state.ledger.corrections.length).toBeGreaterThan(10);
  }, 120_000);
});
