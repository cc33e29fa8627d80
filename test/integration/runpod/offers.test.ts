import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callsOf, openRunpod, order } from './runpod-account.ts';

const HOUR_MS = 3_600_000;
const CATALOGUE = 'graphql gpuTypes';
const MIN_MS = 60_000;

const priceOf = (
  book: { offers: readonly { card: string; cloud: string; spot: boolean; priceUsdPerHour: number }[] } | null,
  spot: boolean,
) =>
  book?.offers.find((o) => o.card === 'NVIDIA A40' && o.cloud === 'secure' && o.spot === spot)
    ?.priceUsdPerHour;

describe('the catalogue (R-064)', () => {
  it('comes_from_GraphQL_with_spot_and_is_asked_for_every_five_minutes_at_most', async () => {
    const account = await openRunpod();
    const provider = account.open();
    const [book] = await Promise.all([provider.offers(), provider.offers()]);
    expect(book).toMatchObject({ source: 'graphql' });
    expect([priceOf(book, false), priceOf(book, true)]).toEqual([0.44, 0.24]);
    account.clock.offsetMs += 5 * MIN_MS - 1_000;
    account.fake.setStock({ gpuId: 'NVIDIA A40' }, { usdPerHour: 0.5 });
    expect(priceOf(await provider.offers(), false)).toBe(0.44);
    account.clock.offsetMs += 1_000;
    expect(priceOf(await provider.offers(), false)).toBe(0.5);
    expect(callsOf(account, CATALOGUE)).toBe(2);
  });

  it('has_no_offer_of_a_card_without_a_price (R-052)', async () => {
    const account = await openRunpod();
    account.fake.setStock({ gpuId: 'NVIDIA A40' }, { usdPerHour: 0, spotUsdPerHour: null });
    const book = await account.open().offers();
    expect(book?.offers.filter(({ card }) => card === 'NVIDIA A40')).toEqual([]);
  });

  it('comes_from_REST_while_GraphQL_is_banned_and_keeps_the_spot_prices_of_the_last_hour', async () => {
    const account = await openRunpod();
    const provider = account.open();
    await provider.offers();
    account.fake.ban('graphql', 3 * HOUR_MS);
    account.clock.offsetMs += 10 * MIN_MS;
    const book = await provider.offers();
    expect(book).toMatchObject({ source: 'rest' });
    expect([priceOf(book, false), priceOf(book, true)]).toEqual([0.44, 0.24]);
    account.clock.offsetMs += HOUR_MS;
    const later = await provider.offers();
    expect([priceOf(later, false), priceOf(later, true)]).toEqual([0.44, undefined]);
  });

  it('comes_from_the_saved_copy_with_its_own_age_when_no_API_answers_also_after_a_restart', async () => {
    const account = await openRunpod();
    const first = await account.open().offers();
    expect(statSync(join(account.stateDir, 'catalogue.json')).mode & 0o777).toBe(0o600);
    account.clock.offsetMs += 2 * HOUR_MS;
    account.fake.failNext({ api: 'graphql', status: 502, times: 9 });
    account.fake.failNext({ api: 'v2', status: 502, times: 9 });
    const provider = account.open();
    expect(await provider.offers()).toEqual({ ...first, source: 'saved' });
    const asked = callsOf(account, CATALOGUE);
    account.clock.offsetMs += 30_000;
    expect(await provider.offers()).toEqual({ ...first, source: 'saved' });
    expect(callsOf(account, CATALOGUE)).toBe(asked);
  });

  it('fails_without_any_copy_and_is_not_asked_for_at_every_pass_then', async () => {
    const account = await openRunpod();
    const provider = account.open();
    writeFileSync(join(account.stateDir, 'catalogue.json'), '{"v":1,"atMs":1,"offers":[{"card":""');
    account.fake.failNext({ api: 'graphql', status: 502, times: 9 });
    account.fake.failNext({ api: 'v2', status: 502, times: 9 });
    await expect(provider.offers()).rejects.toMatchObject({ code: 'provider_failed' });
    const calls = account.fake.calls();
    await expect(provider.offers()).rejects.toMatchObject({ code: 'provider_failed' });
    expect(account.fake.calls()).toEqual(calls);
  });

  it('that_is_empty_or_null_does_not_replace_the_copy', async () => {
    const account = await openRunpod();
    const provider = account.open();
    const first = await provider.offers();
    for (const gpuTypes of [[], null]) {
      account.clock.offsetMs += HOUR_MS;
      account.fake.failNext({ api: 'graphql', status: 200, body: { data: { gpuTypes } } });
      account.fake.failNext({ api: 'v2', status: 200, body: { gpus: gpuTypes }, times: 2 });
      expect(await provider.offers()).toEqual({ ...first, source: 'saved' });
    }
  });
});

describe('the bills (R-051)', () => {
  it('are_what_RunPod_billed_for_each_pod_and_hour', async () => {
    const account = await openRunpod();
    const provider = account.open();
    const outcome = await provider.rent(order());
    await account.fake.advance(2 * HOUR_MS);
    const id = account.fake.pods()[0]?.id ?? '';
    account.fake.outbid(id, 'vanished');
    const bills = (await provider.billed(account.fake.nowMs() - 3 * HOUR_MS)) ?? [];
    expect(outcome.kind).toBe('rented');
    expect(new Set(bills.map(({ podId }) => podId))).toEqual(new Set([id]));
    const usd = bills.reduce((sum, bill) => sum + bill.usd, 0);
    expect(usd).toBeCloseTo(account.fake.costUsd(), 4);
    for (const { fromMs, untilMs } of bills) expect(untilMs).toBe(fromMs + HOUR_MS);
    expect(await provider.billed(account.fake.nowMs() + 2 * HOUR_MS)).toEqual([]);
  });

  it('from_before_are_left_out_although_the_API_sends_them', async () => {
    const account = await openRunpod();
    const bill = (hour: number) => ({
      ...{ podId: 'a', totalAmount: 0.44, gpuAmount: 0.44, cpuAmount: 0, diskAmount: 0 },
      ...{ startTime: `2026-11-30T0${hour}:00:00Z`, endTime: `2026-11-30T0${hour + 1}:00:00Z` },
    });
    const body = {
      records: [bill(1), bill(2), { ...bill(3), podId: null }, { ...bill(3), startTime: '?' }, null],
    };
    account.fake.failNext({ api: 'v2', status: 200, body });
    const fromMs = Date.UTC(2026, 10, 30, 2, 30);
    const hour = { fromMs: Date.UTC(2026, 10, 30, 2), untilMs: Date.UTC(2026, 10, 30, 3) };
    expect(await account.open().billed(fromMs)).toEqual([{ podId: 'a', usd: 0.44, ...hour }]);
  });

  it('that_cannot_be_read_are_a_failure_and_not_nothing', async () => {
    const account = await openRunpod();
    account.fake.failNext({ api: 'v2', status: 200, body: { records: null } });
    await expect(account.open().billed(0)).rejects.toMatchObject({ code: 'provider_failed' });
    expect(readdirSync(account.stateDir)).toContain('api');
  });
});
