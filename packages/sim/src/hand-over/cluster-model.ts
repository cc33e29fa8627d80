import type { HandOverPod } from '@pagefleet/core';
import type { ModelRules } from './clauses.ts';
import { type Message, ModelBus } from './model-bus.ts';
import { ModelController } from './model-controller.ts';
import { ModelPrimary } from './model-primary.ts';
import { ModelWorker } from './model-worker.ts';

/**
 * One cluster: controllers (one in charge, sometimes one that does not know yet that it is not), a primary, its workers,
 * pods, the bus. No I/O and no clock but `nowMs`.
 */
export class ClusterModel {
  readonly rules: ModelRules;
  readonly bus = new ModelBus();
  readonly pods: HandOverPod[];
  /** every worker that ever lived; also the primary's record on disk */
  readonly workers: ModelWorker[] = [];
  controllers: ModelController[] = [];
  primary: ModelPrimary;
  nowMs = 0;
  #count = 0;
  /** pairs of controller and worker between which no report gets through */
  readonly #cut = new Set<string>();
  /** the controller's journal: survives whatever happens to the bus */
  #journalEpoch = 0;

  constructor(rules: ModelRules, { widths, workers }: { widths: readonly number[]; workers: number }) {
    this.rules = rules;
    this.pods = widths.map((width, index) => ({ id: `pod${index}`, pool: 'ocr', width, usable: true }));
    this.startController();
    this.primary = this.#createPrimary();
    for (let n = 0; n < workers; n += 1) this.fork();
  }

  living(): ModelWorker[] {
    return this.workers.filter((worker) => worker.isAlive);
  }

  /** Which pod runs more pages than its width, if one does. */
  overrun(): string | undefined {
    for (const { id, width } of this.pods) {
      let inflight = 0;
      for (const worker of this.workers) if (worker.isAlive) inflight += worker.inflight(id);
      if (inflight > width) return `${id} runs ${inflight} pages at width ${width}`;
    }
    return undefined;
  }

  startController(): void {
    this.#journalEpoch = Math.max(this.#journalEpoch, this.bus.epoch) + 1;
    this.bus.raiseEpoch(this.#journalEpoch);
    this.controllers.push(new ModelController(this.#name('controller'), this.#journalEpoch, this));
  }

  /** The bus names the epoch again after a loss; controllers that are no longer in charge end with it. */
  loseStore(): void {
    this.bus.lose();
    this.controllers = this.controllers.slice(-1);
    this.bus.raiseEpoch(this.#journalEpoch);
  }

  fork(): ModelWorker {
    const worker = new ModelWorker(this.#name('worker'), this.rules.bornWithEpoch ? this.bus.epoch : 0);
    this.workers.push(worker);
    if (!this.rules.listsOrphans) this.primary.adopt(worker);
    this.publishRoster();
    return worker;
  }

  killWorker(worker: ModelWorker): void {
    worker.exit();
    this.publishRoster();
  }

  killPrimary(): void {
    this.primary.die();
  }

  startPrimary(): void {
    this.primary = this.#createPrimary();
    this.fork();
    this.fork();
  }

  cutOff(controllerId: string, bootId: string): void {
    this.#cut.add(`${controllerId} ${bootId}`);
  }

  publishRoster(): void {
    if (!this.primary.isAlive) return;
    const roster = this.primary.roster(this.nowMs);
    for (const { id } of this.controllers) this.bus.inFlight.push({ kind: 'roster', to: id, roster });
  }

  publishReport(worker: ModelWorker): void {
    const report = worker.report(this.nowMs);
    this.bus.publishReport(
      this.rules.tellsDemand ? report : { ...report, pools: {} },
      this.controllers.map(({ id }) => id),
    );
  }

  deliver(message: Message): void {
    if (message.kind === 'report' && this.#cut.has(`${message.to} ${message.report.bootId}`)) return;
    if (message.kind !== 'slice') {
      this.controllers.find(({ id }) => id === message.to)?.hear(message, this.nowMs);
      return;
    }
    const reader = this.workers.find(({ bootId }) => bootId === message.to);
    if (!reader?.isAlive || reader.isStopped) return;
    if (reader.adopt(message.slice, this.rules.adopt, this.nowMs)) this.publishReport(reader);
    this.retire(reader);
  }

  /** A worker that leaves exits when its pages are done. */
  retire(worker: ModelWorker): void {
    const isLeaving = worker.phase === 'leaving' || worker.phase === 'orphan';
    if (isLeaving && worker.isIdle) this.killWorker(worker);
  }

  #createPrimary(): ModelPrimary {
    return new ModelPrimary(this.#name('primary'), 'workers', this.rules.listsOrphans ? this.workers : []);
  }

  #name(kind: string): string {
    this.#count += 1;
    return `${kind}${this.#count}`;
  }
}
