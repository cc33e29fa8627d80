import { type EpochRecord, PagefleetError } from '@pagefleet/contract';
import type { Bucket } from '@pagefleet/runtime';

const KEY = 'epoch';
const RAISE_ATTEMPTS = 20;

export interface EpochOptions {
  readonly bucket: Bucket<EpochRecord>;
  readonly controllerId: string;
  readonly nowMs: () => number;
}

/** `unknown`: NATS is away, so nobody can say who is in charge; nothing that costs is done on that. */
export type EpochCheck = 'mine' | 'deposed' | 'unknown';

/**
 * The number of the controller in charge: raised by compare-and-set above every number seen, by the journal or in NATS, so
 * that two controllers can never hold the same one, even with two state directories on one NATS.
 */
export async function raiseEpoch(options: EpochOptions, atLeast: number): Promise<number> {
  for (let attempt = 0; attempt < RAISE_ATTEMPTS; attempt += 1) {
    const held = await options.bucket.get(KEY);
    if (held !== null && held.value.controllerId === options.controllerId && held.value.epoch > atLeast) {
      return held.value.epoch;
    }
    const epoch = Math.max(atLeast, held?.value.epoch ?? 0) + 1;
    const outcome = await options.bucket.write(KEY, record(options, epoch), held?.revision ?? 0);
    if (outcome.kind === 'written') return epoch;
    // `conflict`: somebody was faster. `unknown`: it may have been written; the next look tells, by our own id.
  }
  throw new PagefleetError('bus_unavailable', 'the epoch could not be raised');
}

/**
 * Whether our number is still the newest. A NATS that lost its memory gets our record again: the journal knows that it is
 * ours, and a newer controller would have found and raised it.
 */
export async function checkEpoch(options: EpochOptions, epoch: number): Promise<EpochCheck> {
  try {
    const held = await options.bucket.get(KEY);
    if (held !== null && held.value.controllerId !== options.controllerId && held.value.epoch >= epoch) {
      return 'deposed';
    }
    if (held?.value.controllerId === options.controllerId && held.value.epoch === epoch) return 'mine';
    const outcome = await options.bucket.write(KEY, record(options, epoch), held?.revision ?? 0);
    return outcome.kind === 'written' ? 'mine' : 'unknown';
  } catch {
    return 'unknown';
  }
}

function record(options: EpochOptions, epoch: number): EpochRecord {
  return { v: 1, epoch, controllerId: options.controllerId, atMs: Math.round(options.nowMs()) };
}
