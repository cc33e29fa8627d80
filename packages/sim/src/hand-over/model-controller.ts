import {
  type HandOverPod,
  type HandOverState,
  learnReport,
  learnRoster,
  openHandOver,
  planSlices,
  type WorkerKnowledge,
} from '@pagefleet/core';
import type { ModelRules } from './clauses.ts';
import type { Message, ModelBus, ModelSlice } from './model-bus.ts';

/** The controller's shell around the hand-over rule: it feeds messages in and puts slices, again until they are acknowledged. */
export class ModelController {
  readonly id: string;
  isAlive = true;
  #state: HandOverState;
  readonly #rules: ModelRules;
  readonly #bus: ModelBus;
  /** what was known of a worker before its newest slice was written: for the run that forgets puts that timed out */
  readonly #before = new Map<string, WorkerKnowledge>();

  constructor(id: string, epoch: number, { bus, rules }: { bus: ModelBus; rules: ModelRules }) {
    this.id = id;
    this.#bus = bus;
    this.#rules = rules;
    this.#state = openHandOver(epoch, ['workers']);
  }

  get epoch(): number {
    return this.#state.epoch;
  }

  hear(message: Message, nowMs: number): void {
    const { handOver } = this.#rules;
    if (message.kind === 'report') this.#state = learnReport(this.#state, message.report, nowMs, handOver);
    if (message.kind === 'roster') this.#state = learnRoster(this.#state, message.roster, nowMs, handOver);
  }

  pass(pods: readonly HandOverPod[], nowMs: number): void {
    const before = this.#state;
    const { state, slices } = planSlices({ state: before, pods, nowMs }, this.#rules.handOver);
    this.#state = state;
    for (const { bootId } of slices) {
      const known = before.workers.get(bootId);
      if (known) this.#before.set(bootId, known);
      this.put(bootId);
    }
  }

  unacked(): string[] {
    const waiting = [...this.#state.workers.values()].filter(
      (w) => !w.exited && !w.acked && w.written !== undefined,
    );
    return waiting.map(({ bootId }) => bootId);
  }

  put(bootId: string): void {
    const written = this.#state.workers.get(bootId)?.written;
    if (written === undefined) return;
    const pods = [...written.widths].map(([id, width]) => ({ id, width }));
    const slice: ModelSlice = { epoch: this.epoch, rev: written.rev, pods };
    this.#bus.puts.push({ key: bootId, slice, expected: this.#bus.revisionOf(bootId) });
  }

  /** The store gave no answer in time. A late put counts as granted, so there is nothing to take back. */
  putTimedOut(bootId: string, rev: number): void {
    const before = this.#before.get(bootId);
    const isNewest = this.#state.workers.get(bootId)?.written?.rev === rev;
    if (this.#rules.latePutCounts || before === undefined || !isNewest) return;
    const workers = new Map(this.#state.workers).set(bootId, before);
    this.#state = { ...this.#state, workers };
  }
}
