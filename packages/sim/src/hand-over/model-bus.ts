import type { Report, Roster } from '@pagefleet/contract';

/** The part of a slice that the hand-over rule is about. */
export interface ModelSlice {
  readonly epoch: number;
  readonly rev: number;
  readonly pods: ReadonlyArray<{ readonly id: string; readonly width: number }>;
}

export type Message =
  | { readonly kind: 'report'; readonly to: string; readonly report: Report }
  | { readonly kind: 'roster'; readonly to: string; readonly roster: Roster }
  | { readonly kind: 'slice'; readonly to: string; readonly slice: ModelSlice };

/** A put on its way: the store looks at `expected` when it arrives there, which may be long after its writer gave it up. */
export interface Put {
  readonly key: string;
  readonly slice: ModelSlice;
  readonly expected: number;
}

const PAST_REPORTS = 60;

interface Entry {
  readonly slice: ModelSlice;
  readonly revision: number;
}

/**
 * NATS as the rule must bear it: plain messages that are late, doubled, lost and out of order, and a key-value store with
 * compare-and-set that can lose everything since some earlier moment.
 */
export class ModelBus {
  readonly inFlight: Message[] = [];
  readonly puts: Put[] = [];
  /** some reports of the past, to turn up again */
  readonly pastReports: Report[] = [];
  #entries = new Map<string, Entry>();
  #revision = 0;
  #epoch = 0;
  #saved: { entries: Map<string, Entry>; revision: number; epoch: number } | undefined;

  get epoch(): number {
    return this.#epoch;
  }

  raiseEpoch(epoch: number): void {
    this.#epoch = Math.max(this.#epoch, epoch);
  }

  revisionOf(key: string): number {
    return this.#entries.get(key)?.revision ?? 0;
  }

  read(key: string): ModelSlice | undefined {
    return this.#entries.get(key)?.slice;
  }

  /** The put arrives at the store; its reader will hear of it. */
  arrive(put: Put): boolean {
    if (this.revisionOf(put.key) !== put.expected) return false;
    this.#revision += 1;
    this.#entries.set(put.key, { slice: put.slice, revision: this.#revision });
    this.inFlight.push({ kind: 'slice', to: put.key, slice: put.slice });
    return true;
  }

  /** What is stored now is what a later `lose` falls back to. */
  sync(): void {
    this.#saved = { entries: new Map(this.#entries), revision: this.#revision, epoch: this.#epoch };
  }

  /** The store comes back as it was last synced, or empty. */
  lose(): void {
    this.#entries = new Map(this.#saved?.entries);
    this.#revision = this.#saved?.revision ?? 0;
    this.#epoch = this.#saved?.epoch ?? 0;
  }

  publishReport(report: Report, controllerIds: readonly string[]): void {
    for (const to of controllerIds) this.inFlight.push({ kind: 'report', to, report });
    if (this.pastReports.push(report) > PAST_REPORTS) this.pastReports.shift();
  }

  take(index: number): Message | undefined {
    return this.inFlight.splice(index, 1)[0];
  }
}
