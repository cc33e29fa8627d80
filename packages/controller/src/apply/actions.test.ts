import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClusterFile } from '@pagefleet/contract';
import { decide, NO_LISTING, type Plan, type PodAction, type PodEvent } from '@pagefleet/core';
import type { Provider, RentOutcome, RentRequest } from '@pagefleet/providers';
import { type ClusterSecret, podToken } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { EpochCheck } from '../epoch.ts';
import { Fleet, type RentIntent } from '../fleet.ts';
import { createMetrics } from '../metrics.ts';
import { WorkerBook } from '../observe/worker-book.ts';
import { keyOf, RENT, rentingPod, servingPod, T0, WATCH } from '../test-kit/pods.ts';
import { quietLogger } from '../test-kit/quiet-logger.ts';
import { actOnPod } from './act-on-pods.ts';
import { mintIdentity, openIntent, rentPod } from './rent-pod.ts';

let folder: string;
let fleet: Fleet;
let now = T0;
const secret: ClusterSecret = {
  v: 1,
  clusterId: 'us',
  current: 'k2',
  keys: { k1: 'a'.repeat(64), k2: 'b'.repeat(64) },
};

beforeEach(async () => {
  now = T0;
  folder = await mkdtemp(join(tmpdir(), 'actions-'));
  fleet = await Fleet.open({ folder, logger: quietLogger().logger, nowMs: () => now });
});
afterEach(async () => {
  await fleet.close();
  await rm(folder, { recursive: true, force: true });
});

const pool = {
  ...{
    name: 'ocr',
    provider: 'local',
    deadManMs: 60_000,
    engine: 'sleep',
    languages: ['eng'],
    dpi: 200,
    tesseract: 'auto',
  },
  ...{
    pageTimeoutMs: 1_000,
    sleepMs: 5,
    models: [],
    vllm: { startTimeoutMs: 1_000, loras: [] },
    reading: {},
  },
};
const cluster = {
  clusterId: 'us',
  config: {
    ...{ cluster: 'c', pools: [pool], limits: { maxPixels: 1, maxBodyBytes: 2 }, logLevel: 'info' },
    watchdog: { stallMs: 3_000, fatalMs: 60_000 },
  },
} as unknown as ClusterFile;

interface World {
  readonly inCharge?: EpochCheck;
  readonly rent?: (request: RentRequest) => Promise<RentOutcome>;
}

function deps({ inCharge = 'mine', rent }: World = {}) {
  const asked: string[] = [];
  const rented: RentRequest[] = [];
  const provider = {
    free: true,
    listingProvesAbsence: true,
    rent: async (request: RentRequest) => {
      rented.push(request);
      return rent ? rent(request) : ({ kind: 'refused', fault: 'account', reason: 'a test' } as const);
    },
    terminate: async (id: string) => void asked.push(id),
  } as unknown as Provider;
  const one = {
    ...{ cluster, secret, fleet, provider },
    facts: {
      listing: NO_LISTING,
      providerAnsweredMs: null,
      offers: null,
      closing: false,
      stopping: false,
      probes: new Map(),
      workers: new WorkerBook(),
    },
    health: new Map(),
    calls: new Set<string>(),
    prober: { probe: async () => ({ outcome: 'ready', health: null }) } as never,
    listings: { want: () => undefined } as never,
    guard: { check: async () => inCharge } as never,
    metrics: createMetrics(),
    logger: quietLogger().logger,
    nowMs: () => now,
    tokenOf: () => 't',
    requestPass: () => undefined,
  };
  return { one, asked, rented };
}

async function enter(adopted: Plan['adoptions'], rents = 0): Promise<readonly RentIntent[]> {
  const world = {
    ...{ nowMs: now, clusterId: 'us', registry: fleet.registry.pods, pools: [], listing: NO_LISTING },
    watch: WATCH,
    ...{ probes: new Map(), providerAnsweredMs: null, reports: null, offers: null, leases: [], schedule: [] },
    ...{
      limits: { usdPerHour: null, usdPerDay: null },
      spentTodayUsd: 0,
      memory: fleet.memory,
      stopping: false,
    },
  };
  const nothing = { transitions: [], forget: [], memory: fleet.memory };
  const { intents } = await fleet.pass({
    decide: () => ({ ...decide(world), ...nothing, adoptions: adopted, actions: Array(rents).fill(RENT) }),
    openIntent: () => openIntent(RENT, { mint: mintIdentity('c'), secret, nowMs: now }),
    keyRefOf: () => ({ keyId: 'k1', spot: false }),
    newest: () => null,
  });
  return intents;
}

async function intentOf(): Promise<RentIntent> {
  const [intent] = await enter([], 1);
  if (intent === undefined) throw new Error('no intent');
  return intent;
}

const stateOf = (key: string) => fleet.registry.get(key)?.state;

describe('a paid call', () => {
  const rented = (request: RentRequest): RentOutcome => ({
    kind: 'rented',
    pod: {
      ...{ id: 'id-1', name: request.mark.name, mark: request.mark, url: null, createdAtMs: now },
      ...{ priceUsdPerHour: 0, status: 'running', card: null, cloud: null, detail: 'running' },
    },
  });

  test('tells_the_pod_everything_and_its_own_token (R-037, R-042)', async () => {
    const intent = await intentOf();
    const { one, rented: requests } = deps({ rent: async (request) => rented(request) });
    await rentPod(intent, one);
    const [request] = requests;
    expect(request?.mark).toMatchObject({
      clusterId: 'us',
      podKey: intent.pod.key,
      keyId: 'k2',
      pool: 'ocr',
      width: 2,
    });
    expect(request?.settings.token).toBe(podToken(secret, 'k2', intent.pod.key));
    expect(fleet.registry.get(intent.pod.key)).toMatchObject({ state: 'booting', id: 'id-1' });
  });

  test('is_not_made_by_who_is_not_in_charge', async () => {
    for (const inCharge of ['deposed', 'unknown'] as const) {
      const intent = await intentOf();
      const { one, rented: requests } = deps({ inCharge });
      await rentPod(intent, one);
      expect(requests).toEqual([]);
      expect(fleet.registry.get(intent.pod.key)).toMatchObject({ state: 'terminated', why: 'not-sent' });
    }
  });

  test('an_intent_older_than_30_s_is_given_up_and_decided_again', async () => {
    const intent = await intentOf();
    now += 31_000;
    const { one, rented: requests } = deps();
    await rentPod(intent, one);
    expect(requests).toEqual([]);
    expect(stateOf(intent.pod.key)).toBe('terminated');
  });

  test.each([
    [
      'an answer that is lost',
      async (): Promise<RentOutcome> => ({ kind: 'ambiguous', cause: new Error('timeout') }),
    ],
    [
      'a provider that throws',
      async (): Promise<RentOutcome> => {
        throw new Error('a fault in its code');
      },
    ],
  ])('%s leaves a pod that may have been bought, and nothing is rented in its place', async (_name, rent) => {
    const intent = await intentOf();
    await rentPod(intent, deps({ rent }).one);
    expect(fleet.registry.get(intent.pod.key)).toMatchObject({ state: 'renting', answer: 'ambiguous' });
  });

  test('only_where_the_listing_proves_absence_its_silence_ends_the_doubt', async () => {
    const intent = await intentOf();
    const lost = async (): Promise<RentOutcome> => ({ kind: 'ambiguous', cause: new Error('timeout') });
    const { one } = deps({ rent: lost });
    await rentPod(intent, one);
    const { key, name } = intent.pod;
    const look = (names: string[], listingProvesAbsence = true) => {
      const revision = fleet.registry.get(key)?.revision ?? 0;
      const provider = {
        ...one.provider,
        listingProvesAbsence,
        list: async () => names.map((listed) => ({ name: listed, mark: null })),
      };
      const action = { kind: 'resolve', podKey: key, revision, name, reason: 'a test' } as const;
      return actOnPod(action, now, { ...one, provider: provider as unknown as Provider });
    };
    await look([name]);
    expect(stateOf(key)).toBe('renting');
    await look(['somebody-else'], false);
    expect(stateOf(key)).toBe('renting');
    await look(['somebody-else']);
    expect(fleet.registry.get(key)).toMatchObject({ state: 'terminated', why: 'not-sent' });
  });

  test('a_paid_call_that_is_still_under_way_is_not_given_up_for_a_listing_that_lacks_its_pod', async () => {
    const intent = await intentOf();
    const { key, name } = intent.pod;
    const call = Promise.withResolvers<RentOutcome>();
    const sent = Promise.withResolvers<void>();
    const rent = (): Promise<RentOutcome> => {
      sent.resolve();
      return call.promise;
    };
    const { one } = deps({ rent });
    const renting = rentPod(intent, one);
    await sent.promise;
    // As the pass says after a minute, or after what the clock takes for one.
    await fleet.report(key, { kind: 'answer-lost' }, 'durable');
    const provider = { ...one.provider, list: async () => [] } as unknown as Provider;
    const look = () => {
      const revision = fleet.registry.get(key)?.revision ?? 0;
      const action = { kind: 'resolve', podKey: key, revision, name, reason: 'a test' } as const;
      return actOnPod(action, now, { ...one, provider });
    };
    await look();
    expect(stateOf(key)).toBe('renting');
    call.resolve({ kind: 'ambiguous', cause: new Error('timeout') });
    await renting;
    await look();
    expect(fleet.registry.get(key)).toMatchObject({ state: 'terminated', why: 'not-sent' });
  });

  test('names_and_keys_are_new_for_every_attempt', async () => {
    const intents = [await intentOf(), await intentOf()];
    expect(new Set(intents.map((intent) => intent.pod.key)).size).toBe(2);
    expect(new Set(intents.map((intent) => intent.pod.name)).size).toBe(2);
    expect(intents[0]?.pod.name).toMatch(/^c-ocr-[0-9a-f]{8}$/);
    expect(rentingPod('a').answer).toBe('uncalled');
  });
});

describe('an action on a pod', () => {
  const pod = servingPod('a');
  const base = { podKey: keyOf('a'), revision: pod.revision, reason: 'a test' };
  const terminate = (change: Partial<Extract<PodAction, { kind: 'terminate' }>> = {}): PodAction => ({
    ...base,
    kind: 'terminate',
    id: 'id-a',
    why: 'idle',
    ...change,
  });
  beforeEach(() => enter([{ pod, reason: 'a test' }]));

  test('is_dropped_when_the_pod_has_moved_on_or_the_action_is_old', async () => {
    const { one, asked } = deps();
    await actOnPod(terminate({ revision: pod.revision + 1 }), now, one);
    await actOnPod(terminate(), now - 31_000, one);
    await actOnPod(terminate({ podKey: keyOf('nobody') }), now, one);
    expect(asked).toEqual([]);
    await actOnPod(terminate(), now, one);
    expect(asked).toEqual(['id-a']);
  });

  test('nothing_is_ended_by_who_is_deposed_and_without_a_bus_only_hard_limits_act', async () => {
    const deposed = deps({ inCharge: 'deposed' });
    await actOnPod(terminate({ why: 'over-budget' }), now, deposed.one);
    expect(deposed.asked).toEqual([]);
    const alone = deps({ inCharge: 'unknown' });
    await actOnPod(terminate({ why: 'idle' }), now, alone.one);
    expect(alone.asked).toEqual([]);
    await actOnPod(terminate({ why: 'over-budget' }), now, alone.one);
    await actOnPod(terminate({ why: 'stopping' }), now, alone.one);
    expect(alone.asked).toEqual(['id-a', 'id-a']);
  });

  test('the_answer_of_a_probe_is_kept_for_the_question_it_answers', async () => {
    const { one } = deps();
    const probe = { ...base, kind: 'probe', purpose: 'check', askedAtMs: now - 5, timeoutMs: 100 } as const;
    await actOnPod(probe, now, one);
    expect(one.facts.probes.get(keyOf('a'))).toEqual({
      ...{ purpose: 'check', askedAtMs: now - 5, endedAtMs: now, outcome: 'ready' },
    });
  });

  test('a_pod_whose_token_nobody_knows_is_unproven_without_being_asked', async () => {
    const { one } = deps();
    const probe = { ...base, kind: 'probe', purpose: 'boot', askedAtMs: now, timeoutMs: 100 } as const;
    await actOnPod(probe, now, { ...one, tokenOf: () => null });
    expect(one.facts.probes.get(keyOf('a'))).toMatchObject({ outcome: 'unproven' });
  });

  test('a_late_answer_of_the_paid_call_about_a_pod_that_went_on_is_no_fault', async () => {
    const created: PodEvent = { kind: 'created', id: 'id-a', url: null, priceUsdPerHour: 0 };
    expect((await fleet.report(keyOf('a'), created, 'lazy')).kind).toBe('changed');
    expect(stateOf(keyOf('a'))).toBe('serving');
  });
});
