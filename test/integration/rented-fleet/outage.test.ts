import { describe, expect, test } from 'vitest';
import { RentedFleet } from './rented-fleet.ts';

const MINUTE_MS = 60_000;
const PODS = 8;

describe('the network to all pods is cut for ten minutes (R-032, R-033; must show)', () => {
  test('no_pod_is_ended_none_is_rented_an_alarm_says_why_and_afterwards_all_serve', async () => {
    const rented = await RentedFleet.open({ pools: [{ name: 'ocr', minPods: PODS }] });
    const { fake, network, work } = rented;
    // While it lasts, more is offered than the fleet can hold: each 30 s would pay for one more pod.
    work.demand.set('ocr', () => PODS * 16 + (network.isCut ? 48 : 0));
    await rented.until('all serve', () => rented.pods('serving').length === PODS, 10 * MINUTE_MS);
    const ids = rented.pods().map(({ id }) => id);

    network.isCut = true;
    await rented.until('all are set aside', () => rented.pods('quarantined').length === PODS, MINUTE_MS);
    const probes = network.probes;
    await rented.advance(10 * MINUTE_MS);
    expect(network.probes - probes).toBeGreaterThanOrEqual(13 * PODS);
    expect(rented.pods('quarantined').map(({ id }) => id)).toEqual(ids);
    expect(fake.pods()).toHaveLength(PODS);
    expect(rented.billing().pods).toBe(PODS);
    expect(rented.alarms().join('; ')).toMatch(/the fault looks like ours: .*; nothing is rented/);

    network.isCut = false;
    await rented.until('all serve again', () => rented.pods('serving').length === PODS, MINUTE_MS);
    await rented.advance(5_000);
    expect(rented.pods().map(({ id }) => id)).toEqual(ids);
    expect(rented.alarms()).toEqual([]);
    const read = work.pagesRead;
    await rented.advance(MINUTE_MS);
    expect(work.pagesRead - read).toBeGreaterThan(PODS * 16 * 10);
  });
});
