import { setTimeout as sleep } from 'node:timers/promises';
import type { SlicePod } from '@pagefleet/contract';
import { describe, expect, test } from 'vitest';
import { type Door, openPskDoor, openStranger, STRANGERS } from './doors.ts';
import { PNG } from './pictures.ts';
import { type Rig, startRig } from './rig.ts';

const TOKEN = 'token-0';

/** A pod that cannot be asked is waited for as long as four probes and two listings take. */
const IMPATIENT = { PAGEFLEET_CONTROL_PROBE_INTERVAL: '100ms', PAGEFLEET_LIMITS_CONNECT_TIMEOUT: '500ms' };

const at = (door: Door, change: Partial<SlicePod> = {}): Partial<SlicePod> => ({
  id: 'p0',
  token: TOKEN,
  url: `psk://127.0.0.1:${door.port}`,
  ...change,
});

/** Somebody was asked, and heard of us that we want to speak TLS, and nothing else. */
function expectNothingHeard(door: Door): void {
  expect(door.requests()).toBe(0);
  const heard = door.heard();
  expect(heard).not.toBe('');
  for (const secret of [
    TOKEN,
    'Bearer',
    'authorization',
    'x-owner',
    'x-pagefleet',
    'HTTP/',
    PNG.toString('latin1'),
  ])
    expect(heard).not.toContain(secret);
}

const suspectOf = (rig: Rig) => rig.dataplane.report().pods.p0?.suspect;

describe('a pod that is spoken to over TLS with its key (DESIGN 5, R-025)', () => {
  test('reads_pages_and_nobody_on_the_way_hears_them', async () => {
    const rig = await startRig();
    const door = await openPskDoor(TOKEN, rig.pods[0]?.url ?? '');
    rig.grant([at(door)]);
    for (let n = 0; n < 3; n += 1) expect((await rig.post(PNG)).status).toBe(200);
    expect(rig.pods[0]?.pages[0]).toMatchObject({ token: `Bearer ${TOKEN}`, bytes: PNG.length });
    for (const secret of [TOKEN, 'Bearer', 'HTTP/']) expect(door.heard()).not.toContain(secret);
    await rig.expectAllGivenBack();
  });

  test('a_connection_made_with_one_token_is_never_used_for_another', async () => {
    const rig = await startRig({ env: IMPATIENT });
    const door = await openPskDoor(TOKEN, rig.pods[0]?.url ?? '');
    rig.grant([at(door)]);
    expect((await rig.post(PNG)).status).toBe(200);
    rig.grant([at(door, { token: 'token-of-another' })]);
    const answering = rig.post(PNG);
    await expect.poll(() => suspectOf(rig)?.kind).toBe('unreachable');
    expect(rig.pods[0]?.pages).toHaveLength(1);
    rig.grant([at(door, { answeredSuspect: 1 })]);
    expect((await answering).status).toBe(200);
  });
});

describe('a stranger at the address of a pod (DESIGN 5, R-025)', () => {
  test.each(STRANGERS)('%s_gets_neither_token_nor_page_and_the_page_goes_to_another_pod', async (kind) => {
    const rig = await startRig({ env: { PAGEFLEET_LIMITS_CONNECT_TIMEOUT: '500ms' } });
    const stranger = await openStranger(kind);
    rig.grant([at(stranger), { id: 'p1', token: 'token-1', url: rig.pods[0]?.url ?? '' }]);
    for (let n = 0; n < 3; n += 1) expect((await rig.post(PNG)).status).toBe(200);
    const { pods } = rig.dataplane.report();
    expect(pods.p0?.suspect).toMatchObject({ n: 1, kind: 'unreachable' });
    expect(pods.p1?.suspect).toBeUndefined();
    expectNothingHeard(stranger);
    await rig.expectAllGivenBack();
  });

  test.each(['http', 'key of another pod'] as const)(
    '%s_is_not_believed_that_a_reading_is_over_nor_that_the_pod_is_well_again (L14, R-031)',
    async (kind) => {
      const rig = await startRig({
        pods: [[{ kind: 'hang' }, { kind: 'read' }], [{ kind: 'read' }]],
        env: IMPATIENT,
      });
      const door = await openPskDoor(TOKEN, rig.pods[0]?.url ?? '');
      rig.grant([at(door)]);
      const answering = rig.post(PNG);
      await expect.poll(() => rig.pods[0]?.pages.length).toBe(1);
      rig.grant([at(door), {}]);
      await door.close();
      const stranger = await openStranger(kind, door.port);
      await expect.poll(() => suspectOf(rig)?.kind).toBe('unreachable');
      const answer = await answering;
      expect(answer.status).toBe(502);
      expect(await answer.text()).not.toMatch(/127\.0\.0\.1|token-0/);
      await sleep(300);
      expect(suspectOf(rig)?.kind).toBe('unreachable');
      expectNothingHeard(stranger);
      expect(rig.pods[1]?.pages).toEqual([]);

      await stranger.close();
      await openPskDoor(TOKEN, rig.pods[0]?.url ?? '', door.port);
      rig.grant([at(door)]);
      expect((await rig.post(PNG)).status).toBe(200);
    },
  );
});
