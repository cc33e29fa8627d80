import { describe, expect, test } from 'vitest';
import { PNG } from './pictures.ts';
import { startRig } from './rig.ts';

describe('a pool that names another to fall back to (R-022)', () => {
  const POOLS = { PAGEFLEET_POOLS: '[{"name":"fleet","max_pods":0,"fallback":"ocr"},{"name":"ocr"}]' };

  test('is_read_for_by_it_while_it_takes_nothing_unless_the_fleet_is_required', async () => {
    const rig = await startRig({ env: POOLS });
    expect((await rig.post(PNG, {}, '/v1/ocr?model=fleet')).status).toBe(200);
    expect(rig.pods[0]?.pages).toHaveLength(1);
    const required = await rig.post(PNG, {}, '/v1/ocr?model=fleet&require=fleet');
    expect(required.status).toBe(503);
    expect(await required.json()).toMatchObject({ code: 'fleet_required' });
    expect(rig.pods[0]?.pages).toHaveLength(1);
    await rig.expectAllGivenBack();
  });

  test('reads_by_itself_when_it_can', async () => {
    const rig = await startRig({ env: POOLS, pods: [[], []] });
    rig.grant([{ pool: 'fleet' }, {}]);
    expect((await rig.post(PNG, {}, '/v1/ocr?model=fleet')).status).toBe(200);
    expect(rig.pods.map((pod) => pod.pages.length)).toEqual([1, 0]);
  });

  test('is_read_for_by_nobody_while_a_lease_of_the_key_requires_the_fleet', async () => {
    const rig = await startRig({ env: POOLS });
    const pools = [{ name: 'fleet', fleetOnly: ['local'] }, { name: 'ocr' }];
    rig.grant([{}], { pools: pools.map((pool) => ({ ...pool, models: [], suspendedUntilMs: 0 })) });
    const answer = await rig.post(PNG, {}, '/v1/ocr?model=fleet');
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).not.toBeNull();
    expect(await answer.json()).toMatchObject({ code: 'fleet_required' });
    expect((await rig.post(PNG, {}, '/v1/ocr?model=ocr')).status).toBe(200);
  });

  test('is_refused_for_its_own_reason_when_the_other_cannot_either', async () => {
    const rig = await startRig({ env: POOLS });
    const pools = ['fleet', 'ocr'].map((name) => ({
      ...{ name, models: [] },
      suspendedUntilMs: name === 'ocr' ? Date.now() + 60_000 : 0,
    }));
    rig.grant([{}], { pools });
    const answer = await rig.post(PNG, {}, '/v1/ocr?model=fleet');
    expect(await answer.json()).toMatchObject({ code: 'no_capacity' });
  });
});
