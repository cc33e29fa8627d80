import { PagefleetError } from '@pagefleet/contract';
import { classifyFailure, decideRetry, type FailureVerdict, type SlotBook } from '@pagefleet/core';
import type { Logger } from '@pagefleet/runtime';
import type { Metrics } from '../metrics.ts';
import type { PageJob } from '../queue/page-job.ts';
import type { ForwardSettings } from './create-forwarding.ts';
import type { Dispatch, DispatchOutcome, FailedDispatch } from './dispatch.ts';
import type { PlacedPage } from './dispatcher.ts';
import { type EndingProof, endReading } from './end-reading.ts';
import { clientGone, pageError } from './page-error.ts';
import type { PodTable } from './pod-table.ts';

export interface RunPageOptions {
  readonly clusterId: string;
  readonly pods: PodTable;
  readonly slots: SlotBook;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly settings: Pick<ForwardSettings, 'pageAttempts' | 'pageDeadlineMs' | 'probeIntervalMs'>;
  /** A suspicion is reported at once. */
  onSuspicion(): void;
  /** The page waits again, at the front, after a pause. */
  putBack(job: PageJob, pauseMs: number): void;
  /** A slot is free again. */
  onRelease(): void;
}

/** Two listings, 2 s apart while a pod is ending, with time to spare. */
const LISTINGS_MS = 5_000;

type ReadPage = Extract<DispatchOutcome<unknown>, { kind: 'read' }>;

/** One dispatch of a page from slot to outcome: read, to be sent again, or failed. */
export class PageRunner {
  readonly #options: RunPageOptions;

  constructor(options: RunPageOptions) {
    this.#options = options;
  }

  /** Whatever happens, the slot is given back and the page is read, waits again, or has failed. */
  async run(placed: PlacedPage): Promise<void> {
    const sentAtMs = this.#options.nowMs();
    const dispatch = this.#begin(placed, sentAtMs);
    try {
      const outcome = await placed.job.send(dispatch);
      if (outcome.kind === 'read') this.#finish(placed, outcome, sentAtMs);
      else await this.#afterFailure(placed, outcome, { sentAtMs, reading: dispatch.reading });
    } catch (err) {
      const { job, pod, dispatchId } = placed;
      this.#options.logger.error({ err, page: dispatchId }, 'page_run_failed');
      // What may still run in the pod is asked to end before its slot goes to another page.
      const isOver = { ...this.#proofOf(job, pod.id), giveUp: () => true };
      await endReading(pod, dispatch.reading, isOver).catch(() => 'unknowable');
      this.#release(placed);
      this.#fail(job, new PagefleetError('internal', 'a fault of ours', { cause: err }));
    }
  }

  #begin({ job, pod, dispatchId }: PlacedPage, sentAtMs: number): Dispatch {
    const { settings, clusterId } = this.#options;
    job.deadlineAtMs ??= sentAtMs + settings.pageDeadlineMs;
    const timeoutMs = Math.max(1, job.deadlineAtMs - sentAtMs);
    const { requestId, signal } = job;
    return { id: dispatchId, reading: dispatchId, pod, clusterId, requestId, timeoutMs, signal };
  }

  #finish(placed: PlacedPage, outcome: ReadPage, sentAtMs: number): void {
    const { pods, metrics, nowMs } = this.#options;
    const { pod, job, trial } = placed;
    const now = nowMs();
    pods.suspects.succeed(pod.id, { trial });
    pod.stats.used += 1;
    pod.stats.good += 1;
    pod.stats.lastGoodMs = now;
    pod.stats.rate.add(now);
    metrics.pageRead(job.pool, job.what, now - sentAtMs);
    this.#release(placed);
    job.settle(outcome);
  }

  async #afterFailure(
    placed: PlacedPage,
    failed: FailedDispatch,
    { sentAtMs, reading: running }: Pick<Dispatch, 'reading'> & { sentAtMs: number },
  ): Promise<void> {
    const { metrics, logger } = this.#options;
    const { job, pod, dispatchId } = placed;
    const { failure, reason } = failed;
    const verdict = classifyFailure(failure);
    this.#recordEvidence(placed, verdict, sentAtMs);
    if (failure.kind === 'shortage') metrics.shortage();
    const facts = { page: dispatchId, pod: pod.id, requestId: job.requestId };
    logger.info({ ...facts, failure: failure.kind, code: verdict.code, reason }, 'page_dispatch_failed');
    // The slot is kept until the reading is over: a page that may still run in the pod uses its width.
    const reading = verdict.over ? 'over' : await endReading(pod, running, this.#proofOf(job, pod.id));
    job.attempts.push({ dispatchId, podId: pod.id, verdict, reading });
    if (verdict.counted) pod.stats.used += 1;
    this.#release(placed);
    this.#act(job, failed);
  }

  /** Three failed probes end a pod and two listings prove it: by then it is known, or never will be. */
  #proofOf(job: PageJob, podId: string): EndingProof {
    const { clusterId, pods, nowMs, settings } = this.#options;
    const longestMs = 4 * settings.probeIntervalMs + LISTINGS_MS;
    const untilMs = Math.min(nowMs() + longestMs, job.deadlineAtMs ?? nowMs());
    return {
      clusterId,
      giveUp: () => job.signal.aborted || nowMs() >= untilMs,
      isGone: () => pods.isGone(podId),
    };
  }

  #act(job: PageJob, failed: FailedDispatch): void {
    const { pods, metrics, nowMs, settings, putBack } = this.#options;
    if (job.signal.aborted) {
      this.#fail(job, clientGone());
      return;
    }
    const deadlineAtMs = job.deadlineAtMs ?? Number.POSITIVE_INFINITY;
    const budget = { maxAttempts: failed.isFinal ? 0 : settings.pageAttempts, deadlineAtMs };
    const decision = decideRetry(job.attempts, budget, nowMs());
    if (decision.kind === 'dispatch') {
      job.exclude = decision.exclude;
      metrics.pageRetried(job.pool);
      putBack(job, decision.pauseMs);
      return;
    }
    if (decision.kind === 'park') for (const podId of decision.clear) pods.suspects.withdraw(podId, job.id);
    this.#fail(job, pageError(decision, job, failed));
  }

  #recordEvidence(placed: PlacedPage, verdict: FailureVerdict, sentAtMs: number): void {
    const { pods, nowMs, logger, onSuspicion } = this.#options;
    const { job, pod, trial } = placed;
    if (verdict.evidence === 'none') {
      if (trial) pods.suspects.abandonTrial(pod.id);
      return;
    }
    const evidence = { kind: verdict.evidence, code: verdict.code, pageId: job.id, document: job.document };
    const raised = pods.suspects.raise(pod.id, { ...evidence, dispatchedAtMs: sentAtMs, nowMs: nowMs() });
    if (!raised) return;
    logger.warn({ pod: pod.id, suspicion: raised }, 'pod_suspected');
    onSuspicion();
  }

  #release({ slot }: PlacedPage): void {
    this.#options.slots.releaseSlot(slot);
    this.#options.onRelease();
  }

  #fail(job: PageJob, error: PagefleetError): void {
    this.#options.metrics.pageFailed(job.pool, job.what, error.code);
    job.settle({ kind: 'failed', error });
  }
}
