import { billsNeededFromMs, settleBills } from '@pagefleet/core';
import type { Provider } from '@pagefleet/providers';
import type { Logger } from '@pagefleet/runtime';
import type { Fleet } from '../fleet.ts';

/** A provider posts bills late and in lumps; asking more often brings nothing sooner. */
const PAUSE_MS = 600_000;

interface BillReaderDeps {
  readonly fleet: Fleet;
  readonly provider: Pick<Provider, 'billed'>;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

/**
 * Reads the provider's billing records while pods that are gone wait for theirs: that closes the open end of one that
 * vanished and makes the cost of every pod exact. The answer is to be called after each pass and holds nothing up.
 */
export function createBillReader({ fleet, provider, logger, nowMs }: BillReaderDeps): () => void {
  let nextMs = Number.NEGATIVE_INFINITY;

  async function read(fromMs: number): Promise<void> {
    let records: Awaited<ReturnType<Provider['billed']>> = null;
    try {
      records = await provider.billed(fromMs);
    } catch (err) {
      logger.warn({ err }, 'bills_not_read');
    }
    const before = fleet.money.state.ledger.corrections.at(-1);
    await fleet.changeMoney('bills', (state, atMs) => {
      const ledger = settleBills(state.ledger, records, { nowMs: atMs, dayAt: fleet.money.calendar.dayAt });
      return { state: { ...state, ledger }, result: null };
    });
    const { corrections } = fleet.money.state.ledger;
    for (const line of corrections.slice(before === undefined ? 0 : corrections.lastIndexOf(before) + 1)) {
      const { podId, pool, day, microUsd } = line;
      logger.info({ pod: podId, pool, day, usd: microUsd / 1e6 }, 'ledger_corrected');
    }
  }

  return () => {
    const fromMs = billsNeededFromMs(fleet.money.state.ledger);
    if (fromMs === null || nowMs() < nextMs) return;
    nextMs = nowMs() + PAUSE_MS;
    void read(fromMs).catch((err: unknown) => logger.error({ err }, 'bills_not_settled'));
  };
}
