import type { Roster } from '@pagefleet/contract';
import type { ModelWorker } from './model-worker.ts';

const NO_ADDRESS = { worker: 0, pid: 1, port: 1, sinceMs: 0 };

/** The cluster primary. What it forked is on record, so that the next one knows whom it left behind. */
export class ModelPrimary {
  readonly id: string;
  readonly group: string;
  isAlive = true;
  #seq = 0;
  readonly #record: ModelWorker[];

  /** `record` is shared with the primaries before and after */
  constructor(id: string, group: string, record: ModelWorker[]) {
    this.id = id;
    this.group = group;
    this.#record = record;
  }

  adopt(worker: ModelWorker): void {
    this.#record.push(worker);
  }

  /** kill -9: its workers stop accepting and finish what they have. */
  die(): void {
    this.isAlive = false;
    for (const worker of this.#record) if (worker.isAlive) worker.phase = 'orphan';
  }

  roster(nowMs: number): Roster {
    this.#seq += 1;
    return {
      v: 1,
      group: this.group,
      primaryId: this.id,
      seq: this.#seq,
      atMs: nowMs,
      workers: this.#record.map(({ bootId, phase }) => ({ ...NO_ADDRESS, bootId, state: phase })),
    };
  }
}
