import {
  type BootingPod,
  openPod,
  type Pod,
  type RentAction,
  type ServingPod,
  transition,
  type WatchSettings,
} from '@pagefleet/core';
import type { HeldPod } from '../pod-registry.ts';

export const T0 = 1_700_000_000_000;

/** The configuration's defaults. */
export const WATCH: WatchSettings = {
  probeIntervalMs: 45_000,
  probeTimeoutMs: 3_000,
  trialDelayMs: 5_000,
  adoptionIntervalMs: 60_000,
};

export const RENT: RentAction = {
  kind: 'rent',
  offer: null,
  pool: 'ocr',
  width: 2,
  configHash: 'hash',
  bootDeadlineMs: 60_000,
  priceUsdPerHour: 0,
  reason: 'a test',
};

export function rentingPod(name: string, nowMs = T0): Extract<Pod, { state: 'renting' }> {
  return openPod(RENT, { key: keyOf(name), name }, nowMs);
}

export function bootingPod(name: string, url: string | null = null, nowMs = T0): BootingPod {
  const created = { kind: 'created', id: `id-${name}`, url, priceUsdPerHour: 0 } as const;
  const result = transition(rentingPod(name, nowMs), created, nowMs);
  if (!result.legal || result.pod.state !== 'booting') throw new Error('not booting');
  return result.pod;
}

export function servingPod(name: string, url = 'http://127.0.0.1:1', nowMs = T0): ServingPod {
  const result = transition(bootingPod(name, url, nowMs), { kind: 'ready' }, nowMs);
  if (!result.legal || result.pod.state !== 'serving') throw new Error('not serving');
  return result.pod;
}

export function held(pod: Pod): HeldPod {
  return { pod, keyRef: { keyId: 'k1', spot: false } };
}

/** 32 hex digits, told apart by the name */
export function keyOf(name: string): string {
  return Buffer.from(name).toString('hex').padEnd(32, '0').slice(0, 32);
}
