import type { ClusterModel } from './cluster-model.ts';
import { exchange } from './exchange.ts';
import type { ModelController } from './model-controller.ts';
import type { ModelWorker } from './model-worker.ts';
import type { Prng } from './prng.ts';

const REPORT_EVERY_MS = 500;
/** rounds in which the last of the noise still settles: processes start, rosters and first slices go round */
const GRACE_ROUNDS = 4;
/** a worker may wait beside idle width for so many of its reports (L9) */
const MOST_REPORTS = 2;

interface Unsettled {
  readonly kind: 'overrun' | 'waited' | 'unfinished';
  readonly what: string;
}

/**
 * The adversary stops: everything runs again and every message arrives. Then nobody waits beside idle width for long and
 * all work gets done. Returns what went wrong, undefined when nothing did.
 */
export function settle(cluster: ClusterModel, prng: Prng): Unsettled | undefined {
  const controller = wakeUp(cluster, prng);
  const waited = new Map<string, number>();
  const pages = cluster.living().reduce((sum, worker) => sum + worker.waiting + worker.running, 0);
  for (let round = 0; round < 40 + 10 * pages; round += 1) {
    cluster.nowMs += REPORT_EVERY_MS;
    exchange(cluster, controller);
    const overrun = cluster.overrun();
    if (overrun) return { kind: 'overrun', what: overrun };
    if (round >= GRACE_ROUNDS) {
      const late = findLate(cluster.living(), waited);
      if (late) return { kind: 'waited', what: `${late.bootId} waits beside idle width` };
    }
    if (cluster.living().every((worker) => worker.isIdle)) return undefined;
    finishSome(cluster, prng);
  }
  return { kind: 'unfinished', what: 'pages still wait' };
}

function wakeUp(cluster: ClusterModel, prng: Prng): ModelController {
  if (!cluster.primary.isAlive) cluster.startPrimary();
  cluster.controllers = cluster.controllers.slice(-1);
  for (const worker of cluster.living()) {
    worker.isStopped = false;
    if (worker.phase === 'starting') worker.phase = 'listening';
    cluster.retire(worker);
  }
  for (const [index, pod] of cluster.pods.entries()) cluster.pods[index] = { ...pod, usable: true };
  cluster.bus.puts.splice(0).forEach((put) => {
    if (prng.chance(0.5)) cluster.bus.arrive(put);
  });
  const [controller] = cluster.controllers;
  if (controller === undefined) throw new Error('the adversary leaves a controller in place');
  return controller;
}

/** A worker that has waited too long while another one had width to spare. */
function findLate(workers: readonly ModelWorker[], waited: Map<string, number>): ModelWorker | undefined {
  for (const worker of workers) {
    const isBesideIdle =
      worker.waiting > 0 && workers.some((other) => other !== worker && other.idleWidth() > 0);
    waited.set(worker.bootId, isBesideIdle ? (waited.get(worker.bootId) ?? 0) + 1 : 0);
    if ((waited.get(worker.bootId) ?? 0) > MOST_REPORTS) return worker;
  }
  return undefined;
}

function finishSome(cluster: ClusterModel, prng: Prng): void {
  for (const worker of cluster.living()) {
    for (let index = worker.running - 1; index >= 0; index -= 1) {
      if (prng.chance(0.5)) worker.finish(index, cluster.nowMs);
    }
    cluster.retire(worker);
  }
}
