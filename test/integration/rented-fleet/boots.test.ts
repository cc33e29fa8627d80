import { describe, expect, test } from 'vitest';
import { RentedFleet } from './rented-fleet.ts';

const MINUTE_MS = 60_000;
const DEADLINE_MS = 2 * MINUTE_MS;

describe('an image that never boots (DESIGN 5, R-038; must show)', () => {
  test('is_paid_for_three_times_then_tried_once_after_ten_minutes_doubling_and_an_alarm_says_so', async () => {
    const rented = await RentedFleet.open({
      pools: [{ name: 'ocr', minPods: 4, bootDeadlineMs: DEADLINE_MS }],
      knobs: { pod: { neverBoots: true } },
      listingGapMs: 10_000,
    });
    const { fake } = rented;
    let most = 0;
    rented.time.onStep = () => {
      most = Math.max(most, rented.billing().pods);
    };
    rented.work.demand.set('ocr', () => 200);
    const startMs = fake.nowMs();
    await rented.until(
      'three boots failed',
      () => rented.alarms().some((words) => words.includes('3 boots in a row failed, renting is suspended')),
      30 * MINUTE_MS,
    );
    expect(fake.pods()).toHaveLength(3);
    await rented.advance(9 * MINUTE_MS);
    expect(fake.pods()).toHaveLength(3);
    expect(rented.alarms().join()).toContain('the last boot of pool "ocr" failed');

    await rented.advance(80 * MINUTE_MS);
    const lives = fake.ledger().map(({ fromMs, toMs }) => ({ fromMs, toMs: toMs ?? Number.NaN }));
    const pausesMs = lives.slice(1).map(({ fromMs }, n) => fromMs - (lives[n]?.toMs ?? 0));
    expect(lives).toHaveLength(6);
    expect(most).toBe(1);
    for (const { fromMs, toMs } of lives) expect(toMs - fromMs).toBeLessThan(DEADLINE_MS + 10_000);
    for (const [index, minutes] of [10, 20, 40].entries()) {
      const pauseMs = pausesMs[index + 2] ?? 0;
      expect(pauseMs).toBeGreaterThanOrEqual(minutes * MINUTE_MS);
      expect(pauseMs).toBeLessThan(minutes * MINUTE_MS + 10_000);
    }
    // Six boots of two minutes at $0.44: all that two hours of a broken image cost.
    expect(fake.costUsd()).toBeLessThan(0.1);
    expect(fake.nowMs() - startMs).toBeGreaterThan(90 * MINUTE_MS);

    fake.setKnobs({ pod: { neverBoots: false } });
    await rented.until('the next trial serves', () => rented.pods('serving').length === 1, 90 * MINUTE_MS);
    await rented.until('and so does the floor', () => rented.pods('serving').length >= 4, 10 * MINUTE_MS);
    expect(rented.alarms()).toEqual([]);
  });
});
