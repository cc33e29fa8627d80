import type {
  Action,
  CompleteListing,
  Memory,
  Offer,
  Plan,
  Pod,
  PodAction,
  PodEvent,
  RentAction,
  RentingPod,
} from '@pagefleet/core';
import { createMailbox, type Logger } from '@pagefleet/runtime';
import {
  type FoldedJournal,
  foldJournal,
  type JournalEntry,
  type JournalState,
  type KeyRef,
} from './journal/entries.ts';
import { type Journal, openJournal } from './journal/journal.ts';
import type { JournalFs } from './journal/journal-fs.ts';
import { type Calendar, UTC_CALENDAR } from './money/calendar.ts';
import { MoneyBook } from './money/money-book.ts';
import { type MoneyState, saveMoney } from './money/money-state.ts';
import { type ChangeOutcome, PodRegistry } from './pod-registry.ts';

interface FleetOptions {
  readonly folder: string;
  readonly logger: Logger;
  readonly nowMs: () => number;
  /** the operator's days and schedules; absent: days in UTC, no schedule */
  readonly calendar?: Calendar;
  readonly fs?: JournalFs;
}

/** One pod to buy, with the name and key it got; on disk before anybody hears of it. */
export interface RentIntent {
  readonly pod: RentingPod;
  readonly keyRef: KeyRef;
  /** what is paid for; null = the provider has one kind of pod */
  readonly offer: Offer | null;
}

export interface AppliedPlan {
  readonly plan: Plan;
  readonly actions: readonly PodAction[];
  readonly intents: readonly RentIntent[];
}

interface PassSteps {
  readonly decide: () => Plan;
  /** draws key and name of one pod to rent */
  readonly openIntent: (action: RentAction) => RentIntent;
  /** the key of a pod's token, of one found in a listing */
  readonly keyRefOf: (pod: Pod) => KeyRef;
  /** the newest complete listing, of which the ledger takes what it proves */
  readonly newest: () => CompleteListing | null;
}

/**
 * Owns every pod of the cluster, what was learnt about its pools, and the journal. All changes happen in one mailbox, one
 * after another; whatever takes long is done outside, and comes back as one more change.
 */
export class Fleet {
  readonly #registry = new PodRegistry();
  readonly #mailbox;
  readonly #logger: Logger;
  readonly #nowMs: () => number;
  readonly #journal: Journal;
  /** to be read by anybody; changed in the mailbox only */
  readonly money: MoneyBook;
  #memory: Memory;
  #epoch: number;

  static async open(options: FleetOptions): Promise<Fleet> {
    // The journal asks for a snapshot only once the fleet stands.
    const box: { fleet?: Fleet } = {};
    let isDamaged = false;
    const journal = await openJournal({
      folder: options.folder,
      takeSnapshot: () => box.fleet?.snapshot(),
      note: (note) => {
        options.logger.warn(note, 'journal_repaired');
        if (note.kind === 'damaged_set_aside') isDamaged = true;
      },
      ...(options.fs === undefined ? {} : { fs: options.fs }),
    });
    const folded = foldJournal(journal.recovered.snapshot, journal.recovered.entries);
    const { unreadable } = folded;
    if (unreadable > 0) options.logger.error({ unreadable }, 'journal_entries_unreadable');
    const isMoneyLost = isDamaged || folded.isMoneyLost;
    if (isMoneyLost) options.logger.error('ledger_damaged');
    const fleet = new Fleet(options, journal, { ...folded, isMoneyLost });
    box.fleet = fleet;
    await fleet.#mailbox.run('start', () => fleet.#compact());
    return fleet;
  }

  private constructor(options: FleetOptions, journal: Journal, { state, money, isMoneyLost }: FoldedJournal) {
    this.#logger = options.logger;
    this.#nowMs = options.nowMs;
    this.#journal = journal;
    this.#memory = state.memory;
    this.#epoch = state.epoch;
    this.#mailbox = createMailbox({
      onSlow: (name, runningMs, depth) =>
        options.logger.warn({ task: name, runningMs, depth }, 'fleet_mailbox_slow'),
    });
    this.#registry.restore(state.pods, options.nowMs());
    this.money = new MoneyBook({
      ...{ state: money, isDamaged: isMoneyLost, nowMs: options.nowMs },
      calendar: options.calendar ?? UTC_CALENDAR,
      store: (entry) => this.#store([entry], 'durable'),
    });
  }

  get registry(): PodRegistry {
    return this.#registry;
  }

  get memory(): Memory {
    return this.#memory;
  }

  /** highest epoch this state directory has held */
  get epoch(): number {
    return this.#epoch;
  }

  /** false: what is decided cannot be put on disk, so nothing is rented */
  get canStore(): boolean {
    return this.#journal.writable();
  }

  snapshot(): JournalState {
    const money = saveMoney(this.money.state);
    return { epoch: this.#epoch, pods: this.#registry.held(), memory: this.#memory, money };
  }

  recordEpoch(epoch: number, controllerId: string): Promise<boolean> {
    return this.#mailbox.run('epoch', async () => {
      this.#epoch = epoch;
      const atMs = this.#nowMs();
      return this.#store([{ kind: 'epoch', epoch, controllerId, atMs }], 'durable');
    });
  }

  /** One pass: decided and applied without a gap, so that every revision still fits. */
  pass(steps: PassSteps): Promise<AppliedPlan> {
    return this.#mailbox.run('pass', async () => {
      const plan = steps.decide();
      // In the order of core's `applyPlan`: what is adopted may be moved on in the same pass.
      const entries = [...this.#adopt(plan, steps), ...this.#applyTransitions(plan)];
      for (const podKey of plan.forget) {
        this.#registry.forget(podKey);
        entries.push({ kind: 'forget', podKey });
      }
      if (isWorthStoring(this.#memory, plan.memory)) entries.push({ kind: 'memory', memory: plan.memory });
      this.#memory = plan.memory;
      if (entries.length > 0) await this.#store(entries, 'lazy');
      await this.money.record({ registry: this.#registry.pods, newest: steps.newest() });
      const intents = await this.#openIntents(plan.actions, steps.openIntent);
      if (this.#journal.needsCompaction()) await this.#compact();
      return { plan, intents, actions: plan.actions.filter((action) => action.kind !== 'rent') };
    });
  }

  /** The outcome of something done outside, true whatever the pod is at now. */
  report(podKey: string, event: PodEvent, durability: 'durable' | 'lazy'): Promise<ChangeOutcome> {
    return this.#mailbox.run(event.kind, async () => {
      const outcome = this.#registry.change(podKey, null, { event, nowMs: this.#nowMs() });
      if (outcome.kind === 'changed') {
        const keyRef = this.#registry.keyRef(podKey);
        await this.#store([{ kind: 'pod', pod: outcome.pod, keyRef }], durability);
      } else {
        this.#logger.warn({ podKey, change: event.kind, outcome }, 'pod_event_dropped');
      }
      return outcome;
    });
  }

  /** The call that ended a pod began then and was accepted. */
  ended(podKey: string, askedAtMs: number): Promise<boolean> {
    return this.#mailbox.run('ended', async () => {
      const pod = this.#registry.get(podKey);
      return pod === undefined ? true : this.money.ended(pod, askedAtMs, this.#registry.pods);
    });
  }

  /** Bills and leases. Nothing has changed unless it is `stored`. */
  changeMoney<T>(
    name: string,
    decide: (state: MoneyState, nowMs: number) => { readonly state: MoneyState; readonly result: T },
  ): Promise<{ readonly stored: boolean; readonly result: T }> {
    return this.#mailbox.run(name, async () => {
      const { state, result } = decide(this.money.state, this.#nowMs());
      return { stored: await this.money.change(state), result };
    });
  }

  /** Runs between two changes, on a registry that stands still. */
  look<T>(name: string, fn: () => T | Promise<T>): Promise<T> {
    return this.#mailbox.run(name, fn);
  }

  async close(): Promise<void> {
    await this.#mailbox.run('close', async () => {
      await this.#compact();
      await this.#journal.close();
    });
  }

  #adopt(plan: Plan, steps: PassSteps): JournalEntry[] {
    const entries: JournalEntry[] = [];
    for (const { pod, reason } of plan.adoptions) {
      const keyRef = steps.keyRefOf(pod);
      if (!this.#registry.enter({ pod, keyRef }, plan.nowMs).isNew) continue;
      this.#logger.info({ pod: pod.id, pool: pod.pool, to: pod.state, why: reason }, 'pod_adopted');
      entries.push({ kind: 'pod', pod, keyRef });
    }
    return entries;
  }

  #applyTransitions(plan: Plan): JournalEntry[] {
    const changed = new Map<string, JournalEntry>();
    for (const { podKey, revision, event, durable, reason } of plan.transitions) {
      const outcome = this.#registry.change(podKey, revision, { event, nowMs: plan.nowMs });
      if (outcome.kind !== 'changed') {
        this.#logger.error({ podKey, change: event.kind, outcome }, 'planned_transition_dropped');
        continue;
      }
      const { before, pod } = outcome;
      if (before.state !== pod.state) {
        const { name, pool, id } = pod;
        this.#logger.info(
          { pod: id ?? name, pool, from: before.state, to: pod.state, why: reason },
          'pod_state',
        );
      }
      if (durable) changed.set(podKey, { kind: 'pod', pod, keyRef: this.#registry.keyRef(podKey) });
    }
    return [...changed.values()];
  }

  /** Intent before money: the pods exist for us once their line is on disk, and not before. */
  async #openIntents(
    actions: readonly Action[],
    openIntent: (action: RentAction) => RentIntent,
  ): Promise<RentIntent[]> {
    const intents = actions.filter((action) => action.kind === 'rent').map(openIntent);
    if (intents.length === 0) return [];
    const entries = intents.map(({ pod, keyRef }): JournalEntry => ({ kind: 'pod', pod, keyRef }));
    if (!(await this.#store(entries, 'durable'))) return [];
    return intents.filter((intent) => this.#registry.enter(intent, this.#nowMs()).isNew);
  }

  async #store(entries: readonly JournalEntry[], durability: 'durable' | 'lazy'): Promise<boolean> {
    const outcome = await this.#journal.append({ kind: 'batch', entries }, durability);
    if (outcome.kind === 'failed') this.#logger.error({ err: outcome.cause }, 'journal_not_written');
    return outcome.kind === 'stored';
  }

  async #compact(): Promise<void> {
    this.money.tidy();
    const outcome = await this.#journal.compact();
    if (outcome.kind === 'failed') this.#logger.error({ err: outcome.cause }, 'journal_not_compacted');
  }
}

/** What would cost money or time to learn again; sums over time are only a delay. */
function isWorthStoring(before: Memory, after: Memory): boolean {
  return JSON.stringify(lasting(before)) !== JSON.stringify(lasting(after));
}

function lasting(memory: Memory): unknown {
  return Object.entries(memory.pools).map(([name, pool]) => [
    name,
    pool.provenHashes,
    pool.failedBoots,
    pool.suspendedUntilMs,
    pool.refusedUntilMs,
  ]);
}
