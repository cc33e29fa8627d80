import { describe, expect, test } from 'vitest';
import { RentedFleet } from './rented-fleet.ts';

const MINUTE_MS = 60_000;
/** what RunPod told when the day's calls were used up (contract 5) */
const BAN_MS = 11_871_000;
const SLICE_MS = 10 * MINUTE_MS;

/** Answers of one API in a stretch of time; refusals for want of quota are among them. */
function answersIn(
  rented: RentedFleet,
  api: 'rest' | 'graphql',
  { fromMs, toMs }: { fromMs: number; toMs: number },
): unknown[] {
  return rented
    .answersOf(api)
    .filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
    .map(({ fields }) => fields.status);
}

const spotPods = ({ fake }: RentedFleet) =>
  fake.pods().filter(({ request }) => request.bidMicroUsdPerGpu !== null);

describe('a ban of one API of RunPod (R-060, R-062, L13; must show)', () => {
  test('of_GraphQL_for_3_3_hours_stops_neither_pages_nor_watching_nor_ends_nor_on_demand_rents_and_spot_waits', async () => {
    const rented = await RentedFleet.open({
      pools: [
        { name: 'ocr', minPods: 32, maxPods: 36 },
        { name: 'cheap', maxPods: 1, machine: { spot: 'only' } },
      ],
      longestPauseMs: 30_000,
      control: { adoptionIntervalMs: 150_000 },
    });
    const { fake, work } = rented;
    fake.setStock({ gpuId: 'NVIDIA A40' }, { free: 50 });
    work.demand.set('ocr', () => 32 * 16);
    await rented.until('32 pods serve', () => rented.pods('serving').length === 32, 30 * MINUTE_MS);

    fake.ban('graphql', BAN_MS);
    const fromMs = fake.nowMs();
    const toMs = fromMs + BAN_MS;
    await rented.advance(6 * MINUTE_MS);
    // The catalogue is asked for every 5 minutes, so by now the ban is known.
    expect(answersIn(rented, 'graphql', { fromMs, toMs })).toEqual([429]);
    expect(rented.said('runpod_banned').map(({ fields }) => fields.waitMs)).toHaveLength(1);
    const graphqlCalls = () => Object.entries(fake.calls()).filter(([name]) => name.startsWith('graphql'));
    const before = JSON.stringify(graphqlCalls());

    const [dying] = rented.pods('serving');
    fake.exitContainer(dying?.id ?? '');
    work.demand.set('cheap', () => 8);
    let slices = 0;
    while (fake.nowMs() + SLICE_MS < toMs) {
      const read = work.pagesRead;
      await rented.advance(SLICE_MS);
      slices += 1;
      // 31 of 32 pods never stop, each with 16 pages in 4 s.
      expect(work.pagesRead - read).toBeGreaterThan((31 * 16 * SLICE_MS) / 4_000 - 32 * 16);
      expect(rented.pods('serving')).toHaveLength(32);
    }
    expect(slices).toBeGreaterThanOrEqual(18);
    expect(fake.pod(dying?.id ?? '')).toMatchObject({ state: 'terminated' });
    expect(fake.calls()).toMatchObject({ 'v2 DELETE /pods/{id}': 1, 'v2 POST /pods': 1 });
    expect(fake.pods()).toHaveLength(33);
    expect(spotPods(rented)).toEqual([]);
    expect(rented.said('pod_refused').every(({ fields }) => fields.fault === 'wait')).toBe(true);

    await rented.advance(toMs - fake.nowMs() - 1);
    expect(answersIn(rented, 'graphql', { fromMs, toMs })).toEqual([429]);
    expect(JSON.stringify(graphqlCalls())).toBe(before);
    await rented.until('spot is rented', () => spotPods(rented).length === 1, 6 * MINUTE_MS);
    await rented.until('and serves', () => rented.pods('serving').length === 33, 3 * MINUTE_MS);
    expect(spotPods(rented)[0]?.request.bidMicroUsdPerGpu).toBe(240_000);
    expect(rented.billing().pods).toBe(33);
  });

  test('of_REST_v2_sends_reads_and_ends_to_GraphQL_and_nothing_to_v2', async () => {
    const rented = await RentedFleet.open({ pools: [{ name: 'ocr', minPods: 3 }] });
    const { fake, work } = rented;
    work.demand.set('ocr', () => 3 * 16);
    await rented.until('3 pods serve', () => rented.pods('serving').length === 3, 10 * MINUTE_MS);

    const banMs = 60 * MINUTE_MS;
    fake.ban('v2', banMs);
    const fromMs = fake.nowMs();
    const toMs = fromMs + banMs;
    await rented.advance(2 * MINUTE_MS);
    expect(answersIn(rented, 'rest', { fromMs, toMs })).toEqual([429]);
    const [dying] = rented.pods('serving');
    fake.exitContainer(dying?.id ?? '');
    await rented.until('it is gone', () => rented.pods().every(({ id }) => id !== dying?.id), 5 * MINUTE_MS);
    await rented.until('3 pods serve again', () => rented.pods('serving').length === 3, 5 * MINUTE_MS);
    await rented.advance(toMs - fake.nowMs() - 1);

    expect(answersIn(rented, 'rest', { fromMs, toMs })).toEqual([429]);
    expect(fake.calls()).toMatchObject({ 'graphql podTerminate': 1 });
    expect(fake.calls()['graphql myself']).toBeGreaterThan(60);
    expect(rented.billing().pods).toBe(3);
    expect(rented.alarms()).toEqual([]);
    const read = work.pagesRead;
    await rented.advance(5 * MINUTE_MS);
    expect(answersIn(rented, 'rest', { fromMs: toMs, toMs: fake.nowMs() }).length).toBeGreaterThan(3);
    expect(work.pagesRead).toBeGreaterThan(read);
  });
});
