import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROOF_HEADERS } from '@pagefleet/contract';
import type { OfferBook } from '@pagefleet/core';
import type { ListedPod, Provider, RentedMachine, RentRequest } from '@pagefleet/providers';
import { defaultEngineSettings, makeProof } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** One account of a provider, and the ways in which renting from it can go wrong. */
export interface ProviderAccount {
  /** how long a pod may take until it serves; 30 s if left out */
  readonly bootTimeoutMs?: number;
  /** what is asked for, given what the provider offers; null where nothing is chosen */
  machineFrom(book: OfferBook | null): RentedMachine | null;
  /** another renter with the same account: a second controller, a command line */
  open(): Provider;
  /** a renter whose rents the provider refuses */
  openRefusing(): Provider;
  /** a renter whose rents happen and whose answers are lost */
  openLosingAnswers(): Provider;
  /** rents in a process of its own, which is killed without warning right after */
  rentAndDie(request: RentRequest): Promise<void>;
  /** ends whatever is left */
  close(): Promise<void>;
}

/** The one case file that every provider passes (port.ts). */
export function providerConformance(name: string, openAccount: () => Promise<ProviderAccount>): void {
  let account: ProviderAccount;
  let provider: Provider;
  beforeEach(async () => {
    account = await openAccount();
    provider = account.open();
  });
  afterEach(() => account.close());

  describe(`the provider ${name}`, () => {
    const newRequest = async () => rentRequest(account.machineFrom(await provider.offers()));

    it('offers_have_a_price_and_there_are_none_where_nothing_costs_anything (R-052)', async () => {
      const book = await provider.offers();
      if (provider.free) return expect(book).toBeNull();
      expect(book?.offers.length).toBeGreaterThan(0);
      expect(Math.abs((book?.atMs ?? 0) - Date.now())).toBeLessThan(60_000);
      for (const offer of book?.offers ?? []) {
        expect(offer.priceUsdPerHour).toBeGreaterThan(0);
        expect(offer.memoryGb).toBeGreaterThan(0);
      }
      const keys = book?.offers.map(({ card, cloud, spot }) => `${card}/${cloud}/${spot}`);
      expect(new Set(keys).size).toBe(keys?.length);
    });

    it('a_rented_pod_tells_its_price_and_what_it_was_rented_as (R-050, R-052)', async () => {
      const request = await newRequest();
      const pod = await rent(provider, request);
      const [listed] = await provider.list();
      const offer = request.machine?.offer;
      expect(listed?.priceUsdPerHour).toBe(pod.priceUsdPerHour);
      if (provider.free) expect(pod.priceUsdPerHour).toBe(0);
      else expect(pod.priceUsdPerHour).toBeCloseTo(offer?.priceUsdPerHour ?? 0, 6);
      expect(listed).toMatchObject({ card: offer?.card ?? null, cloud: offer?.cloud ?? null });
    });

    it('what_is_used_of_its_APIs_is_told_and_free_ones_bill_nothing (R-061)', async () => {
      const before = Date.now();
      await rent(provider, await newRequest());
      const usage = provider.usage();
      if (provider.free) expect(usage).toEqual([]);
      else expect(usage.reduce((sum, { callsLastHour }) => sum + callsLastHour, 0)).toBeGreaterThan(0);
      for (const api of usage) expect(api).toMatchObject({ overBudget: false, bannedUntilMs: null });
      const bills = await provider.billed(before);
      if (provider.free) expect(bills).toBeNull();
      for (const { usd, fromMs, untilMs } of bills ?? []) {
        expect(usd).toBeGreaterThanOrEqual(0);
        expect(untilMs).toBeGreaterThan(fromMs);
      }
    });

    it('a_rented_pod_is_listed_serves_and_after_its_end_is_absent_from_two_listings', async () => {
      const request = await newRequest();
      const pod = await rent(provider, request);
      expect(pod).toMatchObject({ name: request.mark.name, mark: request.mark });
      const serving = await untilServing(provider, pod.id, account.bootTimeoutMs);
      expect(serving).toMatchObject({ id: pod.id, name: pod.name, mark: request.mark, status: 'running' });
      expect(serving.createdAtMs).toBe(pod.createdAtMs);
      expect(await probe(serving, request)).toBe(200);
      expect((await readPage(serving, request)).text).toContain('sleep');
      await provider.terminate(pod.id);
      await untilGone(provider, pod.id);
      expect(await idsOf(provider)).toEqual([]);
    });

    it('a_pod_outlives_whoever_rented_it_and_another_finds_and_ends_it', async () => {
      const request = await newRequest();
      await account.rentAndDie(request);
      const [pod] = await provider.list();
      expect(pod).toMatchObject({ name: request.mark.name, mark: request.mark });
      const serving = await untilServing(provider, pod?.id ?? '', account.bootTimeoutMs);
      expect(await probe(serving, request)).toBe(200);
      await provider.terminate(serving.id);
      await untilGone(provider, serving.id);
    });

    it('a_refused_rent_gives_a_reason_and_leaves_nothing', async () => {
      const outcome = await account.openRefusing().rent(await newRequest());
      expect(outcome).toMatchObject({ kind: 'refused', reason: expect.stringMatching(/\w/) });
      expect(await idsOf(provider)).toEqual([]);
    });

    it('a_rent_whose_answer_was_lost_is_found_by_its_name', async () => {
      const request = await newRequest();
      expect(await account.openLosingAnswers().rent(request)).toMatchObject({ kind: 'ambiguous' });
      const found = (await provider.list()).filter((pod) => pod.name === request.mark.name);
      expect(found).toHaveLength(1);
      expect(found[0]?.mark).toEqual(request.mark);
      await provider.terminate(found[0]?.id ?? '');
      await untilGone(provider, found[0]?.id ?? '');
    });

    it('pods_rented_at_once_have_ids_of_their_own_and_every_listing_has_them_all', async () => {
      const requests = [await newRequest(), await newRequest(), await newRequest()];
      const pods = await Promise.all(requests.map((request) => rent(provider, request)));
      const ids = pods.map((pod) => pod.id).sort();
      expect(new Set(ids).size).toBe(3);
      for (const renter of [provider, account.open()]) expect(await idsOf(renter)).toEqual(ids);
      const [first, ...rest] = ids;
      await provider.terminate(first ?? '');
      await untilGone(provider, first ?? '');
      expect(await idsOf(provider)).toEqual(rest);
    });

    it('an_end_may_be_asked_for_twice_at_once_and_by_others_and_also_when_the_pod_is_gone', async () => {
      const { id } = await rent(provider, await newRequest());
      await Promise.all([provider.terminate(id), provider.terminate(id), account.open().terminate(id)]);
      await untilGone(provider, id);
      await provider.terminate(id);
      await account.open().terminate(id);
    });

    it('no_listing_shows_a_token', async () => {
      const request = await newRequest();
      await rent(provider, request);
      expect(JSON.stringify(await provider.list())).not.toContain(request.settings.token);
    });
  });
}

export function rentRequest(machine: RentedMachine | null = null): RentRequest {
  return {
    mark: {
      clusterId: 'cluster-1',
      podKey: randomBytes(16).toString('hex'),
      keyId: 'k1',
      pool: 'ocr',
      name: `test-ocr-${randomUUID().slice(0, 8)}`,
      width: 2,
      configHash: 'hash',
      spot: machine?.offer.spot ?? false,
    },
    settings: {
      token: randomBytes(32).toString('hex'),
      port: 0,
      host: '127.0.0.1',
      transport: 'plain',
      deadManMs: 120_000,
      removal: 'exit',
      apiUrl: '',
      graphqlUrl: '',
      engine: 'sleep',
      ...defaultEngineSettings(),
      sleepMs: 20,
      maxPixels: 1_000_000,
      maxPageBytes: 1_000_000,
      stallMs: 3_000,
      fatalStallMs: 60_000,
      logLevel: 'info',
    },
    machine,
  };
}

export async function rent(provider: Provider, request: RentRequest): Promise<ListedPod> {
  const outcome = await provider.rent(request);
  if (outcome.kind !== 'rented') throw new Error(`not rented: ${JSON.stringify(outcome)}`);
  return outcome.pod;
}

/** Listed with an address, and the pod answers there; a proxy that stands before it says 404 or 502 until then. */
export async function untilServing(provider: Provider, id: string, timeoutMs = 30_000): Promise<ListedPod> {
  const lookMs = timeoutMs / 600;
  for (let n = 0; n < 600; n += 1) {
    const pod = (await provider.list()).find((listed) => listed.id === id);
    const answer = pod?.url ? await fetch(`${pod.url}/healthz`).catch(() => null) : null;
    if (pod && answer?.ok) return pod;
    await sleep(lookMs);
  }
  throw new Error(`pod ${id} does not serve`);
}

/** Absent from two listings, one after the other. */
export async function untilGone(provider: Provider, id: string): Promise<void> {
  let absences = 0;
  for (let n = 0; n < 600 && absences < 2; n += 1) {
    absences = (await idsOf(provider)).includes(id) ? 0 : absences + 1;
    if (absences < 2) await sleep(20);
  }
  expect(absences).toBe(2);
}

async function idsOf(provider: Provider): Promise<string[]> {
  return (await provider.list()).map((pod) => pod.id).sort();
}

/** Answers the status, and throws unless the answer proves the pod's identity. */
async function probe(pod: ListedPod, { settings: { token } }: RentRequest): Promise<number> {
  const nonce = randomUUID();
  const headers = {
    [PROOF_HEADERS.nonce]: nonce,
    [PROOF_HEADERS.ownerProof]: makeProof(token, 'owner', nonce),
  };
  const answer = await fetch(`${pod.url}/healthz`, { headers });
  expect(answer.headers.get(PROOF_HEADERS.podProof)).toBe(makeProof(token, 'pod', nonce));
  return answer.status;
}

async function readPage(pod: ListedPod, { mark, settings }: RentRequest): Promise<{ text: string }> {
  const answer = await fetch(`${pod.url}/v1/page`, {
    method: 'POST',
    body: Buffer.from('89504e470d0a1a0a00000000', 'hex'),
    headers: {
      authorization: `Bearer ${settings.token}`,
      'x-page-id': randomUUID(),
      'x-owner': mark.clusterId,
    },
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { text: string };
}
