import {
  endedInLedger,
  foldOldDays,
  type Lease,
  leasesOfWorld,
  liveLease,
  type Pod,
  payersOf,
  recordLedger,
  spentTodayUsd,
  type World,
} from '@pagefleet/core';
import type { Calendar } from './calendar.ts';
import { type MoneyEntry, type MoneyState, moneyEntry } from './money-state.ts';

interface BookOptions {
  readonly state: MoneyState;
  readonly calendar: Calendar;
  /** lines of the ledger were lost on disk, so what today has cost is not known */
  readonly isDamaged: boolean;
  readonly nowMs: () => number;
  /** true once it is on disk */
  readonly store: (entry: MoneyEntry) => Promise<boolean>;
}

/**
 * Ledger and leases, in the fleet's mailbox and journal: nothing counts before it is on disk. Reading is free at any time
 * and may be a moment old.
 */
export class MoneyBook {
  readonly calendar: Calendar;
  readonly #options: BookOptions;
  #state: MoneyState;

  constructor(options: BookOptions) {
    const { state, calendar, nowMs } = options;
    this.#options = options;
    this.calendar = calendar;
    const damagedDay = options.isDamaged ? calendar.dayAt(nowMs()).label : state.ledger.damagedDay;
    this.#state = { ...state, ledger: { ...state.ledger, damagedDay } };
  }

  get state(): MoneyState {
    return this.#state;
  }

  /** Of the operator's day so far, what is not counted yet included; null = not known, so nothing that costs is rented. */
  spentTodayUsd(nowMs: number): number | null {
    return spentTodayUsd(this.#state.ledger, this.calendar.dayAt(nowMs), nowMs);
  }

  /** As decisions see them. */
  leases(nowMs: number): Lease[] {
    return leasesOfWorld(this.#state.leases, nowMs);
  }

  /** Brings the ledger up to what the registry and the newest listing say. */
  record(facts: Pick<World, 'registry'> & { newest: World['listing']['newest'] }): Promise<boolean> {
    const nowMs = this.#options.nowMs();
    const { dayAt } = this.calendar;
    const payerOf = payersOf(this.#state.leases, facts.registry, nowMs);
    const ledger = recordLedger(this.#state.ledger, { ...facts, nowMs, dayAt, payerOf });
    return this.change({ ...this.#state, ledger });
  }

  /** We ended this pod by a call that began then. */
  ended(pod: Pod, askedAtMs: number, registry: World['registry']): Promise<boolean> {
    const payer = payersOf(this.#state.leases, registry, askedAtMs)(pod);
    const { dayAt } = this.calendar;
    const ledger = endedInLedger(this.#state.ledger, { podId: pod.id ?? '', askedAtMs, payer, dayAt });
    return this.change({ ...this.#state, ledger });
  }

  /** false: it is not on disk, and nothing has changed */
  async change(next: MoneyState): Promise<boolean> {
    const entry = moneyEntry(this.#state, next);
    if (entry === null) return true;
    if (!(await this.#options.store(entry))) return false;
    this.#state = next;
    return true;
  }

  /** Before a snapshot, which is where what is left out or added up leaves the disk. */
  tidy(): void {
    const nowMs = this.#options.nowMs();
    this.#state = {
      ledger: foldOldDays(this.#state.ledger, this.calendar.dayAt(nowMs)),
      leases: this.#state.leases.flatMap((lease) => liveLease(lease, nowMs) ?? []),
    };
  }
}
