import type { Day } from './calendar.ts';
import type { Ledger, LedgerLine, LedgerTotal } from './ledger.ts';

/** Who else paid on one day is kept under one name, so that a client that takes leases without end fills no disk. */
const PAYERS_PER_DAY = 100;
const OTHERS = { lease: 'others', owner: '' } as const;

/** A ledger that is being written; `finish` makes a new one of it, or gives the old one back when nothing was written. */
export interface LedgerEdit {
  readonly lines: Map<string, LedgerLine>;
  readonly totals: Map<string, LedgerTotal>;
  readonly dayAt: (atMs: number) => Day;
}

export function openEdit(ledger: Ledger, dayAt: (atMs: number) => Day): LedgerEdit {
  return { lines: new Map(ledger.lines), totals: new Map(ledger.totals), dayAt };
}

export function finish(edit: LedgerEdit, before: Ledger): Ledger {
  const isSame =
    edit.lines.size === before.lines.size &&
    [...edit.lines].every(([id, line]) => before.lines.get(id) === line);
  return isSame ? before : { ...before, lines: edit.lines, totals: edit.totals };
}

type TotalKey = Pick<LedgerTotal, 'day' | 'pool' | 'lease' | 'owner'>;
type Amounts = Partial<Pick<LedgerTotal, 'servingMicroUsd' | 'bootingMicroUsd' | 'correctedMicroUsd'>>;

export function totalKey({ day, pool, lease, owner }: TotalKey): string {
  return JSON.stringify([day, pool, lease, owner]);
}

export function post(totals: Map<string, LedgerTotal>, to: TotalKey, amounts: Amounts): void {
  const hasPlace = to.lease === '' || totals.has(totalKey(to)) || !isCrowded(totals, to.day);
  const { day, pool, lease, owner } = hasPlace ? to : { ...to, ...OTHERS };
  const key = totalKey({ day, pool, lease, owner });
  const before = totals.get(key);
  totals.set(key, {
    ...{ day, pool, lease, owner },
    servingMicroUsd: (before?.servingMicroUsd ?? 0) + (amounts.servingMicroUsd ?? 0),
    bootingMicroUsd: (before?.bootingMicroUsd ?? 0) + (amounts.bootingMicroUsd ?? 0),
    correctedMicroUsd: (before?.correctedMicroUsd ?? 0) + (amounts.correctedMicroUsd ?? 0),
  });
}

function isCrowded(totals: ReadonlyMap<string, LedgerTotal>, day: string): boolean {
  const payers = [...totals.values()].filter((total) => total.day === day && total.lease !== '');
  return payers.length >= PAYERS_PER_DAY;
}
