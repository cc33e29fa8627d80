import { describe, expect, test } from 'vitest';
import { RentedFleet } from './rented-fleet.ts';

const MINUTE_MS = 60_000;
const A40 = { id: 'NVIDIA A40', maxUsdPerHour: 0 };
const A6000 = { id: 'NVIDIA RTX A6000', maxUsdPerHour: 0 };
const cardsOf = ({ fake }: RentedFleet) => fake.pods().map(({ gpuId }) => gpuId);
const serves = (rented: RentedFleet) => () => rented.pods('serving').length === 1;

describe('a card that is not what the catalogue says (R-052, DESIGN 5)', () => {
  test('is_passed_over_for_the_next_one_at_once_when_it_is_called_plentiful_and_refused', async () => {
    const rented = await RentedFleet.open({
      pools: [{ name: 'ocr', machine: { cards: [A40, A6000] } }],
    });
    const { fake } = rented;
    await rented.advance(1_000);
    fake.setStock({ gpuId: A40.id }, { stock: 'High', free: 0 });
    rented.work.demand.set('ocr', () => 16);
    rented.renter.requestPass();
    const askedMs = fake.nowMs();
    await rented.until('a pod is rented', () => fake.pods().length === 1, MINUTE_MS);
    expect(cardsOf(rented)).toEqual([A6000.id]);
    expect(fake.nowMs() - askedMs).toBeLessThan(5_000);
    expect(rented.said('pod_refused').map(({ fields }) => fields.fault)).toEqual(['no-capacity']);
    await rented.until('it serves', serves(rented), 5 * MINUTE_MS);
    expect(fake.pods()).toHaveLength(1);
  });

  test('that_is_charged_above_the_ceiling_is_ended_at_once_and_not_rented_for_a_while_that_doubles', async () => {
    const rented = await RentedFleet.open({ pools: [{ name: 'ocr', machine: { maxUsdPerHour: 0.6 } }] });
    const { fake } = rented;
    fake.nextCreates(2, { chargedUsdPerHour: 0.9 });
    rented.work.demand.set('ocr', () => 16);
    await rented.until('a pod serves', serves(rented), 10 * MINUTE_MS);
    const lives = fake.ledger();
    expect(lives.map(({ microUsdPerHour }) => microUsdPerHour / 1e6)).toEqual([0.9, 0.9, 0.44]);
    for (const [n, pauseMs] of [60_000, 120_000].entries()) {
      const [from, to] = [lives[n]?.fromMs ?? 0, lives[n]?.toMs ?? Number.NaN];
      expect(to - from).toBeLessThan(2_000);
      const next = lives[n + 1]?.fromMs ?? 0;
      expect(next - from).toBeGreaterThanOrEqual(pauseMs);
      expect(next - from).toBeLessThan(pauseMs + 15_000);
    }
  });

  test('that_is_shown_at_its_community_price_and_billed_at_the_secure_one_is_ended_and_another_is_taken', async () => {
    const machine = { cards: [A40, A6000], clouds: ['community' as const], maxUsdPerHour: 0.4 };
    const rented = await RentedFleet.open({ pools: [{ name: 'ocr', machine }] });
    const { fake } = rented;
    // A6000 is the cheaper one in the community: $0.33 shown, the secure $0.49 billed.
    fake.nextCreates(1, { chargedUsdPerHour: 0.49 });
    rented.work.demand.set('ocr', () => 16);
    await rented.until('a pod serves', serves(rented), 5 * MINUTE_MS);
    expect(cardsOf(rented)).toEqual([A6000.id, A40.id]);
    expect(fake.pods()[0]).toMatchObject({ state: 'terminated', cloud: 'COMMUNITY' });
    expect(rented.billing()).toEqual({ pods: 1, usdPerHour: 0.35 });
  });
});
