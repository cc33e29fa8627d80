import {
  type ClientLease,
  type Correction,
  EMPTY_LEDGER,
  type Ledger,
  type LedgerLine,
  type LedgerTotal,
  totalKey,
} from '@pagefleet/core';

/** What was spent, and what clients asked for: both survive everything. */
export interface MoneyState {
  readonly ledger: Ledger;
  readonly leases: readonly ClientLease[];
}

export const NO_MONEY: MoneyState = { ledger: EMPTY_LEDGER, leases: [] };

/** As the snapshot holds it. */
export interface SavedMoney {
  readonly lines: readonly LedgerLine[];
  readonly totals: readonly LedgerTotal[];
  readonly corrections: readonly Correction[];
  readonly damagedDay: string | null;
  readonly leases: readonly ClientLease[];
}

/** What has changed, in whole values, so that reading it twice changes nothing. */
export interface MoneyEntry extends Partial<SavedMoney> {
  readonly kind: 'money';
  /** ids of pods whose line is settled */
  readonly settled?: readonly string[];
}

export function saveMoney({ ledger, leases }: MoneyState): SavedMoney {
  const { corrections, damagedDay } = ledger;
  return {
    ...{ lines: [...ledger.lines.values()], totals: [...ledger.totals.values()] },
    ...{ corrections, damagedDay, leases },
  };
}

/** null = nothing has changed */
export function moneyEntry(before: MoneyState, after: MoneyState): MoneyEntry | null {
  if (before.ledger === after.ledger && before.leases === after.leases) return null;
  const [old, now] = [before.ledger, after.ledger];
  const lines = [...now.lines].flatMap(([id, line]) => (old.lines.get(id) === line ? [] : [line]));
  const settled = [...old.lines.keys()].filter((id) => !now.lines.has(id));
  const totals = [...now.totals].flatMap(([key, total]) => (old.totals.get(key) === total ? [] : [total]));
  return {
    kind: 'money',
    ...(lines.length === 0 ? {} : { lines }),
    ...(settled.length === 0 ? {} : { settled }),
    ...(totals.length === 0 ? {} : { totals }),
    ...(old.corrections === now.corrections ? {} : { corrections: now.corrections }),
    ...(old.damagedDay === now.damagedDay ? {} : { damagedDay: now.damagedDay }),
    ...(before.leases === after.leases ? {} : { leases: after.leases }),
  };
}

export function takeMoney(
  state: MoneyState,
  entry: Partial<SavedMoney> & Pick<MoneyEntry, 'settled'>,
): MoneyState {
  const lines = new Map(state.ledger.lines);
  for (const id of entry.settled ?? []) lines.delete(id);
  for (const line of entry.lines ?? []) lines.set(line.podId, line);
  const totals = new Map(state.ledger.totals);
  for (const total of entry.totals ?? []) totals.set(totalKey(total), total);
  return {
    ledger: {
      ...{ lines, totals },
      corrections: entry.corrections ?? state.ledger.corrections,
      damagedDay: entry.damagedDay === undefined ? state.ledger.damagedDay : entry.damagedDay,
    },
    leases: entry.leases ?? state.leases,
  };
}

export function isSavedMoney(value: unknown): value is Partial<SavedMoney> {
  if (!isObject(value)) return false;
  return (
    isListOf(value.lines, (line) => typeof line.podId === 'string' && isWhole(line.microUsdPerHour)) &&
    isListOf(value.totals, (total) => typeof total.day === 'string' && isWhole(total.servingMicroUsd)) &&
    isListOf(value.corrections, (one) => isWhole(one.microUsd)) &&
    isListOf(value.leases, (lease) => typeof lease.id === 'string' && typeof lease.pool === 'string')
  );
}

function isListOf(value: unknown, fits: (item: Record<string, unknown>) => boolean): boolean {
  return value === undefined || (Array.isArray(value) && value.every((item) => isObject(item) && fits(item)));
}

function isWhole(value: unknown): boolean {
  return Number.isSafeInteger(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
