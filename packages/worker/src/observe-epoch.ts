import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '@pagefleet/runtime';

const TRIES = 20;
const PAUSE_MS = 100;

/**
 * The epoch in which this worker is born, holding nothing; slices of it may give width at once. 0 when it cannot be read
 * soon: then the first slice gives nothing, and the one after its acknowledgement does (DESIGN 6).
 */
export async function observeEpoch(bus: Bus): Promise<number> {
  for (let tries = 0; tries < TRIES && !bus.connected(); tries += 1) await sleep(PAUSE_MS);
  const record = await bus
    .bucket('control')
    .get('epoch')
    .catch(() => null);
  return record?.value.epoch ?? 0;
}
