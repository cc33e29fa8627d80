import type { Day } from './calendar.ts';
import { type Correction, countedMicroUsd, type Ledger, type LedgerLine, microUsd } from './ledger.ts';
import { openEdit, post } from './ledger-edit.ts';

/** A bill that has not come, or not settled, two days after its pod was gone is waited for no longer. */
const GIVE_UP_MS = 2 * 86_400_000;
/** Lines that wait for a bill; beyond it the oldest wait no longer. */
const WAITING_LINES = 2_000;
/** Records come by the hour, each rounded for itself: a bill that is lower by less is whole. */
const ROUNDING_MICRO_USD = 1_000;
const CORRECTIONS_KEPT = 200;

/** What the provider billed for one pod in one stretch of time. */
export interface BillRecord {
  readonly podId: string;
  readonly usd: number;
}

/** From when on records are needed to settle what waits; null = nothing waits. */
export function billsNeededFromMs(ledger: Ledger): number | null {
  const waiting = [...ledger.lines.values()].filter((line) => line.closed !== null);
  return waiting.length === 0 ? null : Math.min(...waiting.map((line) => line.bornAtMs));
}

/**
 * Takes in what the provider billed; null = it keeps no records, or does not answer. What a record says beyond what was
 * counted becomes a line of its own. Two readings in a row that agree, and cover what was counted, settle a pod.
 */
export function settleBills(
  ledger: Ledger,
  records: readonly BillRecord[] | null,
  at: { nowMs: number; dayAt: (atMs: number) => Day },
): Ledger {
  const edit = openEdit(ledger, at.dayAt);
  const billed = new Map<string, number>();
  for (const { podId, usd } of records ?? []) billed.set(podId, (billed.get(podId) ?? 0) + usd);
  const corrections: Correction[] = [];
  for (const line of ledger.lines.values()) {
    if (line.closed === null) continue;
    const usd = billed.get(line.podId);
    const read = usd === undefined ? null : microUsd(usd);
    const known = countedMicroUsd(line) + line.correctedMicroUsd;
    const isNew = read !== null && read !== line.closed.billedMicroUsd;
    const more = isNew ? Math.max(0, read - known) : 0;
    if (more > 0) corrections.push(correctionOf(line, more, at));
    const isSettled = read !== null && !isNew && read >= known - ROUNDING_MICRO_USD;
    // Also a bill that was not read for days is taken in before it is given up.
    if (isSettled || at.nowMs - line.closed.atMs >= GIVE_UP_MS) edit.lines.delete(line.podId);
    else if (isNew) {
      const closed = { ...line.closed, billedMicroUsd: read };
      edit.lines.set(line.podId, { ...line, correctedMicroUsd: line.correctedMicroUsd + more, closed });
    }
  }
  for (const { day, pool, microUsd: correctedMicroUsd } of corrections)
    post(edit.totals, { day, pool, lease: '', owner: '' }, { correctedMicroUsd });
  dropOldest(edit.lines);
  return {
    ...ledger,
    lines: edit.lines,
    totals: edit.totals,
    corrections: [...ledger.corrections, ...corrections].slice(-CORRECTIONS_KEPT),
  };
}

/** On the day on which what it adds was spent. */
function correctionOf(
  line: LedgerLine,
  more: number,
  { nowMs, dayAt }: { nowMs: number; dayAt: (atMs: number) => Day },
): Correction {
  const { podId, pool } = line;
  return { podId, pool, day: dayAt(line.countedUntilMs).label, atMs: nowMs, microUsd: more };
}

function dropOldest(lines: Map<string, LedgerLine>): void {
  const waiting = [...lines.values()].flatMap((line) =>
    line.closed === null ? [] : [{ podId: line.podId, atMs: line.closed.atMs }],
  );
  const oldest = waiting
    .sort((a, b) => a.atMs - b.atMs)
    .slice(0, Math.max(0, waiting.length - WAITING_LINES));
  for (const { podId } of oldest) lines.delete(podId);
}
