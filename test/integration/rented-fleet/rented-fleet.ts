import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config, EpochRecord, Pool } from '@pagefleet/contract';
import { Fleet, Renter } from '@pagefleet/controller/renting';
import { type Pod, type PodStateName, spent } from '@pagefleet/core';
import { createRunpodProvider, type Provider } from '@pagefleet/providers';
import type { ClusterSecret, Logger } from '@pagefleet/runtime';
import { type FakeRunpod, type FakeRunpodOptions, startFakeRunpod } from '@pagefleet/sim/fake-runpod';
import { onTestFinished } from 'vitest';
import { clusterFileOf } from './cluster-file.ts';
import { createMemoryBucket } from './memory-bucket.ts';
import { createMemoryDisk } from './memory-disk.ts';
import { SimulatedNetwork } from './simulated-network.ts';
import { SimulatedWork } from './simulated-work.ts';
import { type LifeClock, StepClock } from './step-clock.ts';

export interface RentedFleetOptions {
  readonly pools: readonly (Partial<Omit<Pool, 'machine'>> & { machine?: Partial<Pool['machine']> })[];
  readonly money?: Partial<Config['money']>;
  readonly control?: Partial<Config['control']>;
  readonly knobs?: FakeRunpodOptions['knobs'];
  readonly longestPauseMs?: number;
  readonly listingGapMs?: number;
}

interface Line {
  readonly event: string;
  readonly atMs: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

interface Life {
  readonly fleet: Fleet;
  readonly renter: Renter;
  readonly clock: LifeClock;
  readonly provider: Provider;
  isDead: boolean;
}

const CLUSTER_ID = 'rented-fleet-test';
const START_MS = Date.UTC(2026, 0, 5, 6);
const CALLS = ['offers', 'rent', 'list', 'terminate', 'billed'] as const;

/**
 * The renting half of the production controller (Fleet and Renter) and the real RunPod provider, over HTTP, against the
 * fake RunPod, whose clock stands still and is the time of both. What is simulated says so in its name: the work, and the
 * network to the pods. A provider's pause before it asks again takes no time here.
 */
export class RentedFleet {
  readonly fake: FakeRunpod;
  readonly time: StepClock;
  readonly work: SimulatedWork;
  readonly network: SimulatedNetwork;
  readonly lines: Line[] = [];
  readonly #options: RentedFleetOptions;
  readonly #stateDir = mkdtempSync(join(tmpdir(), 'pf-rented-fleet-'));
  #disk = createMemoryDisk();
  readonly #control = createMemoryBucket<EpochRecord>();
  readonly #providers: Provider[] = [];
  #lives = 0;
  #life: Life | null = null;

  static async open(options: RentedFleetOptions): Promise<RentedFleet> {
    const { pod, ...knobs } = options.knobs ?? {};
    const quick = { bootMs: 60_000, listenerDelayMs: 5_000, listen: false };
    const fake = await startFakeRunpod({
      ...{ startMs: START_MS, speed: 0 },
      knobs: { spendLimitUsdPerHour: 1_000, ...knobs, pod: { ...quick, ...pod } },
    });
    const rented = new RentedFleet(fake, options);
    onTestFinished(() => rented.#close());
    await rented.start();
    return rented;
  }

  private constructor(fake: FakeRunpod, options: RentedFleetOptions) {
    this.fake = fake;
    this.#options = options;
    this.time = new StepClock(fake);
    this.network = new SimulatedNetwork(fake);
    const canReach = (pod: Pod) => pod.id !== null && this.network.isListening(pod.id);
    this.work = new SimulatedWork({ canReach, nowMs: () => this.time.nowMs() });
    this.work.follow(() => {
      const life = this.#life;
      return life === null ? null : { epoch: life.renter.guard.epoch(), registry: life.fleet.registry.pods };
    });
  }

  get fleet(): Fleet {
    return this.#alive.fleet;
  }

  get renter(): Renter {
    return this.#alive.renter;
  }

  get #alive(): Life {
    if (this.#life === null) throw new Error('no controller runs');
    return this.#life;
  }

  /** The journal that a life before left behind is read again. */
  async start(): Promise<void> {
    const { fake } = this;
    this.#lives += 1;
    const controllerId = `controller${this.#lives}`;
    const clock = this.time.lifeClock();
    const logger = this.#logger();
    const options = this.#options;
    const cluster = clusterFileOf({ clusterId: CLUSTER_ID, fake, ...options });
    const raw = createRunpodProvider({
      ...{ apiKey: fake.apiKey, restUrl: fake.restV2Url, graphqlUrl: fake.graphqlUrl },
      ...{ graphqlHourlyBudget: 1_500, stateDir: this.#stateDir, logger },
      clock: { nowMs: clock.nowMs, sleep: async () => undefined },
    });
    this.#providers.push(raw);
    const box: { life?: Life } = {};
    const provider = this.#counted(raw, () => box.life?.isDead ?? false);
    const fleet = await Fleet.open({ folder: '/state', logger, nowMs: clock.nowMs, fs: this.#disk });
    const renter = new Renter({
      ...{ cluster, logger, fleet, metrics: NO_METRICS, workers: this.work, secret: SECRET },
      ...{ controllerId, clock, provider, prober: this.network.prober, control: this.#control },
      mint: (pool) => this.#mint(pool),
      busConnected: () => true,
      // Coarser than in production, where it is 1 s and 2 s: each step costs real time.
      longestPauseMs: options.longestPauseMs ?? 10_000,
      listingGapMs: options.listingGapMs ?? 5_000,
      onPass: () => undefined,
      onDeposed: () => undefined,
    });
    box.life = { fleet, renter, clock, provider, isDead: false };
    this.#life = box.life;
    void renter.start();
    await this.time.settle();
  }

  get isAlive(): boolean {
    return this.#life !== null;
  }

  /** The next call of that name is made, and the controller does not live to hear what came of it; null: it lives on. */
  killInNext(call: (typeof CALLS)[number] | null): void {
    this.#killIn = call;
  }
  #killIn: (typeof CALLS)[number] | null = null;

  /** Like kill -9: whatever still comes back, nobody hears it. */
  kill(): void {
    const life = this.#alive;
    life.isDead = true;
    life.clock.kill();
    this.#life = null;
  }

  /** Journal and ledger are gone; the secret, as ever, stands elsewhere. */
  loseDisk(): void {
    this.#disk = createMemoryDisk();
  }

  advance(ms: number): Promise<void> {
    return this.time.advance(ms);
  }

  async until(what: string, holds: () => boolean, withinMs: number): Promise<void> {
    if (await this.time.until(holds, withinMs)) return;
    const pods = this.pods().map(({ state, id }) => `${id ?? '-'} ${state}`);
    throw new Error(
      `not within ${withinMs / 1_000} s: ${what}; ${pods.join(', ')}; ${this.alarms().join('; ')}`,
    );
  }

  pods(state?: PodStateName): Pod[] {
    const pods = [...this.fleet.registry.pods.values()];
    return state === undefined ? pods : pods.filter((pod) => pod.state === state);
  }

  alarms(): string[] {
    return this.renter.notes.alarms.all().map(({ message }) => message);
  }

  /** what bills now, by the fake's own table */
  billing(): { pods: number; usdPerHour: number } {
    const open = this.fake.ledger().filter(({ toMs }) => toMs === null);
    return { pods: open.length, usdPerHour: open.reduce((sum, line) => sum + line.microUsdPerHour, 0) / 1e6 };
  }

  spentUsd(): number {
    return spent(this.fleet.money.state.ledger).microUsd / 1e6;
  }

  said(event: string): Line[] {
    return this.lines.filter((line) => line.event === event);
  }

  /** answers that came from an API, refusals for want of quota included */
  answersOf(api: 'rest' | 'graphql'): Line[] {
    return this.said('runpod_answered').filter(({ fields }) => fields.api === api);
  }

  #mint(pool: string): { key: string; name: string } {
    const n = String(this.#minted);
    this.#minted += 1;
    const key = createHmac('sha256', 'key').update(n).digest('hex').slice(0, 32);
    return { key, name: `${CLUSTER_ID}-${pool}-${n.padStart(8, '0')}` };
  }
  #minted = 0;

  /** Time stands still during its calls, and the dead are told nothing. */
  #counted(raw: Provider, isDead: () => boolean): Provider {
    const counted: Record<string, unknown> = { ...raw };
    for (const name of CALLS) {
      const call = raw[name] as (...args: unknown[]) => Promise<unknown>;
      counted[name] = async (...args: unknown[]) => {
        if (isDead()) return new Promise(() => undefined);
        const outcome = await this.time.during(() =>
          call(...args).then(
            (value) => ({ value }),
            (error: unknown) => ({ error }),
          ),
        );
        if (name === this.#killIn && !isDead()) {
          this.#killIn = null;
          this.kill();
        }
        if (isDead()) return new Promise(() => undefined);
        if ('error' in outcome) throw outcome.error;
        return outcome.value;
      };
    }
    return counted as unknown as Provider;
  }

  #logger(): Logger {
    const take = (fields: unknown, event: unknown) => {
      const atMs = this.time.nowMs();
      if (typeof event === 'string') this.lines.push({ event, atMs, fields: fields as Line['fields'] });
      else this.lines.push({ event: String(fields), atMs, fields: {} });
    };
    return {
      ...{ trace: take, debug: take, info: take },
      ...{ warn: take, error: take, fatal: take },
    } as unknown as Logger;
  }

  async #close(): Promise<void> {
    if (this.#life !== null) this.kill();
    await this.time.settle();
    await Promise.all(this.#providers.map((provider) => provider.close()));
    await this.fake.close();
    rmSync(this.#stateDir, { recursive: true, force: true });
  }
}

const SECRET: ClusterSecret = { v: 1, clusterId: CLUSTER_ID, current: 'k1', keys: { k1: 'a'.repeat(64) } };

const count = { inc: () => undefined };
const NO_METRICS = {
  ...{ rents: count, terminates: count, probes: count, listings: count },
  passSeconds: { observe: () => undefined },
};
