import type { BudgetStatus, Config, MoneyStatus } from '@pagefleet/contract';
import { type Day, type Ledger, openMicroUsd, spent } from '@pagefleet/core';

interface MoneyInput {
  readonly nowMs: number;
  readonly today: Day;
  readonly ledger: Ledger;
  readonly money: Config['money'];
  readonly liveUsdPerHour: number;
}

const CORRECTIONS_SHOWN = 20;

/** What was spent and what may be, from the ledger as it is on disk. */
export function moneyStatus({ nowMs, today, ledger, money, liveUsdPerHour }: MoneyInput): MoneyStatus {
  const [ofDay, ofMonth] = [spent(ledger, today.label), spent(ledger, monthOf(today))];
  const openUsd = openMicroUsd(ledger, today.fromMs, nowMs) / 1e6;
  const todayUsd = ofDay.microUsd / 1e6 + openUsd;
  return {
    day: today.label,
    time_zone: money.timeZone,
    known: ledger.damagedDay !== today.label,
    open_today_usd: openUsd,
    booting_today_usd: ofDay.bootingMicroUsd / 1e6,
    booting_month_usd: ofMonth.bootingMicroUsd / 1e6,
    per_hour: budget(money.usdPerHour, money.hardUsdPerHour, liveUsdPerHour),
    per_day: budget(money.usdPerDay, money.hardUsdPerDay, todayUsd),
    leases: leaseSpend(ledger, today),
    corrections: ledger.corrections.slice(-CORRECTIONS_SHOWN).map((line) => ({
      ...{ pod: line.podId, pool: line.pool, day: line.day },
      at: new Date(line.atMs).toISOString(),
      usd: line.microUsd / 1e6,
    })),
  };
}

/** Counted today and this month, of one pool or of all. */
export function spendOf(
  ledger: Ledger,
  today: Day,
  pool?: string,
): { spend_today_usd: number; spend_month_usd: number } {
  const of = pool === undefined ? {} : { pool };
  return {
    spend_today_usd: spent(ledger, today.label, of).microUsd / 1e6,
    spend_month_usd: spent(ledger, monthOf(today), of).microUsd / 1e6,
  };
}

function leaseSpend(ledger: Ledger, today: Day): MoneyStatus['leases'] {
  const month = [...ledger.totals.values()].filter(
    ({ day, lease }) => lease !== '' && day.startsWith(monthOf(today)),
  );
  return [...new Map(month.map(({ lease, owner }) => [lease, owner]))].map(([lease, owner]) => ({
    ...{ lease, owner },
    today_usd: spent(ledger, today.label, { lease }).microUsd / 1e6,
    month_usd: spent(ledger, monthOf(today), { lease }).microUsd / 1e6,
  }));
}

/** `2026-03` */
function monthOf(day: Day): string {
  return day.label.slice(0, 7);
}

function budget(softUsd: number, hardUsd: number, usedUsd: number): BudgetStatus | null {
  if (softUsd === 0) return null;
  const hard_usd = hardUsd === 0 ? softUsd : hardUsd;
  return { soft_usd: softUsd, hard_usd, left_usd: Math.max(0, softUsd - usedUsd) };
}
