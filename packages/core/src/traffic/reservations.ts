import type { HandOverRules } from './hand-over-rules.ts';
import type { WorkerKnowledge } from './hand-over-state.ts';

interface WidePod {
  readonly id: string;
  readonly width: number;
}

/** What each live worker may still use of each pod, with the sums, while one plan is made. */
export class Reservations {
  readonly #pods: readonly WidePod[];
  readonly #rules: HandOverRules;
  readonly #byWorker = new Map<string, Map<string, number>>();
  readonly #sums = new Map<string, number>();

  constructor(workers: readonly WorkerKnowledge[], pods: readonly WidePod[], rules: HandOverRules) {
    this.#pods = pods;
    this.#rules = rules;
    for (const worker of workers) this.note(worker);
  }

  /** Takes over what is known of this worker now, after a grant for example. */
  note(worker: WorkerKnowledge): void {
    const before = this.#byWorker.get(worker.bootId);
    const now = new Map<string, number>();
    for (const pod of this.#pods) {
      const width = reservedWidth(worker, pod, this.#rules);
      if (width > 0) now.set(pod.id, width);
      this.#sums.set(pod.id, this.sum(pod.id) + width - (before?.get(pod.id) ?? 0));
    }
    this.#byWorker.set(worker.bootId, now);
  }

  of(bootId: string, podId: string): number {
    return this.#byWorker.get(bootId)?.get(podId) ?? 0;
  }

  sum(podId: string): number {
    return this.#sums.get(podId) ?? 0;
  }

  byOthers(bootId: string, podId: string): number {
    return this.sum(podId) - this.of(bootId, podId);
  }
}

/** `reserved(w, pod)` of DESIGN 6. */
function reservedWidth(worker: WorkerKnowledge, pod: WidePod, rules: HandOverRules): number {
  const largest = worker.largest.get(pod.id) ?? 0;
  if (!worker.answered && !worker.newborn) return rules.unanswered(pod.width, largest);
  if (worker.acked) return largest;
  return rules.unacked(largest, worker.written?.widths.get(pod.id) ?? 0);
}
