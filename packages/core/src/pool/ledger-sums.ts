import { type Day, labelOf } from './calendar.ts';
import { countedMicroUsd, type Ledger, type LedgerLine, type LedgerTotal } from './ledger.ts';
import { post } from './ledger-edit.ts';

/** Who paid is kept for this and the last month, what a pool cost for a year and a month. */
const KEEP_PAYERS_DAYS = 62;
const KEEP_DAYS = 400;

export interface Spend {
  readonly microUsd: number;
  /** of it, by pods that booted */
  readonly bootingMicroUsd: number;
}

/** What was counted in all; of one day, with its label; of a month or a year, with the beginning of it. It never falls. */
export function spent(
  ledger: Ledger,
  days = '',
  of: Partial<Pick<LedgerTotal, 'pool' | 'lease'>> = {},
): Spend {
  let [microUsd, bootingMicroUsd] = [0, 0];
  for (const total of ledger.totals.values()) {
    if (!total.day.startsWith(days)) continue;
    if (of.pool !== undefined && total.pool !== of.pool) continue;
    if (of.lease !== undefined && total.lease !== of.lease) continue;
    microUsd += total.servingMicroUsd + total.bootingMicroUsd + total.correctedMicroUsd;
    bootingMicroUsd += total.bootingMicroUsd;
  }
  return { microUsd, bootingMicroUsd };
}

/** What may have been spent since `fromMs` beyond what is counted: the open end of every line. */
export function openMicroUsd(ledger: Ledger, fromMs: number, nowMs: number): number {
  let sum = 0;
  for (const line of ledger.lines.values()) sum += openOf(line, fromMs, nowMs);
  return sum;
}

function openOf(line: LedgerLine, fromMs: number, nowMs: number): number {
  const startMs = Math.max(line.countedUntilMs, fromMs);
  const untilMs = line.closed?.openUntilMs ?? nowMs;
  if (untilMs <= startMs) return 0;
  return Math.max(
    0,
    countedMicroUsd(line, untilMs) - countedMicroUsd(line, startMs) - line.correctedMicroUsd,
  );
}

/**
 * What a decision takes the day to have cost so far, open ends included; null = not known, because lines of this day were
 * lost on disk.
 */
export function spentTodayUsd(ledger: Ledger, today: Day, nowMs: number): number | null {
  if (ledger.damagedDay === today.label) return null;
  return (spent(ledger, today.label).microUsd + openMicroUsd(ledger, today.fromMs, nowMs)) / 1e6;
}

/** The ledger with old days added up, so that it stays small; the same object when there is nothing to add up. */
export function foldOldDays(ledger: Ledger, today: Day): Ledger {
  const firstKept = labelOf(today.number - KEEP_DAYS);
  const firstWithPayers = labelOf(today.number - KEEP_PAYERS_DAYS);
  const isOld = ({ day, lease }: LedgerTotal) =>
    day !== '' && (day < firstKept || (day < firstWithPayers && lease !== ''));
  if (![...ledger.totals.values()].some(isOld)) return ledger;
  const totals = new Map<string, LedgerTotal>();
  for (const total of ledger.totals.values()) {
    const day = total.day < firstKept ? '' : total.day;
    const payer =
      day < firstWithPayers ? { lease: '', owner: '' } : { lease: total.lease, owner: total.owner };
    post(totals, { day, pool: total.pool, ...payer }, total);
  }
  return { ...ledger, totals };
}
