import { EMPTY_MEMORY, type Memory, type Pod } from '@pagefleet/core';
import {
  isSavedMoney,
  type MoneyEntry,
  type MoneyState,
  NO_MONEY,
  type SavedMoney,
  takeMoney,
} from '../money/money-state.ts';

/** What a pod's token is derived from, beside the pod itself; the secret is its own file. */
export interface KeyRef {
  readonly keyId: string;
  readonly spot: boolean;
}

/** Every entry holds a whole value, so that reading one twice changes nothing. */
export type JournalEntry =
  | { readonly kind: 'epoch'; readonly epoch: number; readonly controllerId: string; readonly atMs: number }
  | { readonly kind: 'pod'; readonly pod: Pod; readonly keyRef: KeyRef }
  | { readonly kind: 'forget'; readonly podKey: string }
  | { readonly kind: 'memory'; readonly memory: Memory }
  | MoneyEntry
  /** what one pass changed: all of it or nothing */
  | { readonly kind: 'batch'; readonly entries: readonly JournalEntry[] };

export interface JournalState {
  readonly epoch: number;
  readonly pods: readonly { readonly pod: Pod; readonly keyRef: KeyRef }[];
  readonly memory: Memory;
  /** absent in a snapshot of an older build */
  readonly money?: SavedMoney;
}

export interface FoldedJournal {
  readonly state: Omit<JournalState, 'money'>;
  readonly money: MoneyState;
  readonly unreadable: number;
  /** some of what cannot be read was about money */
  readonly isMoneyLost: boolean;
}

/** Entries of a kind this build does not know were written by a newer one with the same schema version: left out, counted. */
export function foldJournal(snapshot: unknown, entries: readonly unknown[]): FoldedJournal {
  const start = isState(snapshot) ? snapshot : null;
  const pods = new Map((start?.pods ?? []).map((held) => [held.pod.key, held]));
  let epoch = start?.epoch ?? 0;
  let memory = start?.memory ?? EMPTY_MEMORY;
  let unreadable = snapshot !== null && start === null ? 1 : 0;
  let isMoneyLost = unreadable > 0;
  let money = NO_MONEY;
  const takeSaved = (saved: unknown): void => {
    if (isSavedMoney(saved)) money = takeMoney(money, saved);
    else isMoneyLost = true;
  };
  if (start?.money !== undefined) takeSaved(start.money);
  const take = (entry: JournalEntry): void => {
    if (entry.kind === 'epoch') epoch = Math.max(epoch, entry.epoch);
    else if (entry.kind === 'pod') pods.set(entry.pod.key, { pod: entry.pod, keyRef: entry.keyRef });
    else if (entry.kind === 'forget') pods.delete(entry.podKey);
    else if (entry.kind === 'memory') memory = entry.memory;
    else if (entry.kind === 'money') takeSaved(entry);
    else for (const inner of entry.entries) takeUnknown(inner);
  };
  const takeUnknown = (entry: unknown): void => {
    if (isEntry(entry)) take(entry);
    else unreadable += 1;
  };
  for (const entry of entries) takeUnknown(entry);
  return { state: { epoch, pods: [...pods.values()], memory }, money, unreadable, isMoneyLost };
}

function isEntry(value: unknown): value is JournalEntry {
  if (!isObject(value)) return false;
  switch (value.kind) {
    case 'epoch':
      return typeof value.epoch === 'number';
    case 'pod':
      return isHeld(value);
    case 'forget':
      return typeof value.podKey === 'string';
    case 'memory':
      return isMemory(value.memory);
    case 'money':
      return true;
    case 'batch':
      return Array.isArray(value.entries);
    default:
      return false;
  }
}

function isState(value: unknown): value is JournalState {
  if (!isObject(value) || typeof value.epoch !== 'number' || !isMemory(value.memory)) return false;
  return Array.isArray(value.pods) && value.pods.every(isHeld);
}

function isHeld(value: unknown): boolean {
  if (!isObject(value) || !isObject(value.pod) || !isObject(value.keyRef)) return false;
  const { key, state, pool, revision } = value.pod;
  const isPod = typeof key === 'string' && typeof state === 'string' && typeof pool === 'string';
  return isPod && typeof revision === 'number' && typeof value.keyRef.keyId === 'string';
}

function isMemory(value: unknown): boolean {
  return isObject(value) && isObject(value.pools);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
