import { describe, expect, test } from 'vitest';
import { RentedFleet } from './rented-fleet.ts';

const BOOT_MS = 700_000;
const WIDTH = 16;
/** what a client keeps in flight for each pod that is ready. */
const WINDOW = 64;
const RUN_MS = 2_100_000;

/**
 * The rule, worked out on its own from one pod that serves at 0: what is offered above the width that is there is summed over
 * time, and each boot × width of it buys a pod, which serves one boot later.
 */
function expectedRentsMs(untilMs: number): number[] {
  const rents: number[] = [];
  let debt = 0;
  for (let atMs = 0; atMs < untilMs; atMs += 100) {
    const ready = 1 + rents.filter((rentMs) => rentMs + BOOT_MS <= atMs).length;
    const width = WIDTH * (1 + rents.length);
    debt = Math.max(0, debt + (WINDOW * ready - width) * 100);
    if (debt >= BOOT_MS * WIDTH) {
      rents.push(atMs);
      debt -= BOOT_MS * WIDTH;
    }
  }
  return rents;
}

async function openWithClient(minPods: number): Promise<RentedFleet> {
  const rented = await RentedFleet.open({
    pools: [{ name: 'ocr', width: WIDTH, minPods, bootEstimateMs: BOOT_MS, bootDeadlineMs: 2 * BOOT_MS }],
    knobs: { pod: { bootMs: BOOT_MS - 10_000, listenerDelayMs: 10_000 } },
    listingGapMs: 10_000,
  });
  return rented;
}

describe('a client that keeps the window of R-082 (DESIGN 5, rent-or-wait; must show)', () => {
  test('lets_the_fleet_grow_from_one_pod_as_waiting_has_paid_for_each_boot', async () => {
    const rented = await openWithClient(1);
    const { fake, work } = rented;
    work.demand.set('ocr', () => WINDOW * rented.pods('serving').length);
    await rented.until('one serves', () => rented.pods('serving').length === 1, 2 * BOOT_MS);
    const startMs = fake.nowMs();
    await rented.advance(RUN_MS);
    const rentsMs = fake
      .pods()
      .slice(1)
      .map(({ createdAtMs }) => createdAtMs - startMs);
    const expected = expectedRentsMs(RUN_MS);
    expect(expected.slice(0, 2).map((ms) => Math.round(ms / 1_000))).toEqual([233, 583]);
    expect(Math.abs(rentsMs.length - expected.length)).toBeLessThanOrEqual(1);
    expect(expected.length).toBeGreaterThan(5);
    for (const [n, ms] of rentsMs.slice(0, expected.length - 1).entries()) {
      // A pass every 5 s while work waits, and a boot is seen a probe later: never sooner than paid for.
      expect(ms).toBeGreaterThanOrEqual((expected[n] ?? 0) - 1_000);
      expect(ms).toBeLessThan((expected[n] ?? 0) + 30_000);
    }
  });

  test('gets_the_first_pod_at_once', async () => {
    const rented = await openWithClient(0);
    const { fake, work } = rented;
    await rented.advance(600_000);
    expect(fake.pods()).toEqual([]);
    const startMs = fake.nowMs();
    work.demand.set('ocr', () => 1);
    rented.renter.requestPass();
    await rented.until('one is rented', () => fake.pods().length === 1, 60_000);
    expect(fake.nowMs() - startMs).toBeLessThanOrEqual(1_000);
    await rented.advance(BOOT_MS / 2);
    expect(fake.pods()).toHaveLength(1);
  });
});
