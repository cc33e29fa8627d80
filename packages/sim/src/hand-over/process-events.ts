import type { Happened } from './bus-events.ts';
import type { ClusterModel } from './cluster-model.ts';
import { exchange } from './exchange.ts';
import type { ModelWorker } from './model-worker.ts';
import type { Prng } from './prng.ts';

const MOST_WORKERS = 5;

/** One worker that can act now: alive and not stopped. */
function pickWorker(cluster: ClusterModel, prng: Prng): ModelWorker | undefined {
  return prng.pick(cluster.workers.filter((worker) => worker.isAlive && !worker.isStopped));
}

export function passController(cluster: ClusterModel, prng: Prng): Happened {
  const controller = prng.pick(cluster.controllers);
  if (controller === undefined) return undefined;
  const puts = cluster.bus.puts.length;
  controller.pass(cluster.pods, cluster.nowMs);
  return () => `${controller.id} passes: ${JSON.stringify(cluster.bus.puts.slice(puts))}`;
}

export function offerPages(cluster: ClusterModel, prng: Prng): Happened {
  const worker = pickWorker(cluster, prng);
  if (worker?.phase !== 'listening' || worker.waiting > 5) return undefined;
  worker.offer(1 + prng.int(4), cluster.nowMs);
  return () => `${worker.bootId} is offered pages, ${worker.waiting} wait`;
}

export function finishPage(cluster: ClusterModel, prng: Prng): Happened {
  const worker = pickWorker(cluster, prng);
  if (worker === undefined || worker.running === 0) return undefined;
  worker.finish(prng.int(worker.running), cluster.nowMs);
  cluster.retire(worker);
  return () => `${worker.bootId} finishes a page`;
}

export function report(cluster: ClusterModel, prng: Prng): Happened {
  const worker = pickWorker(cluster, prng);
  if (worker === undefined) return undefined;
  cluster.publishReport(worker);
  return () => `${worker.bootId} reports`;
}

export function publishRoster(cluster: ClusterModel): Happened {
  cluster.publishRoster();
  return () => 'roster';
}

export function setPodAside({ pods }: ClusterModel, prng: Prng): Happened {
  const index = prng.int(pods.length);
  const pod = pods[index];
  if (pod === undefined) return undefined;
  pods[index] = { ...pod, usable: !pod.usable };
  return () => `${pod.id} is ${pod.usable ? 'set aside' : 'back'}`;
}

export function startListening(cluster: ClusterModel): Happened {
  const worker = cluster.workers.find(({ phase }) => phase === 'starting');
  if (worker === undefined) return undefined;
  worker.phase = cluster.primary.isAlive ? 'listening' : 'orphan';
  cluster.publishRoster();
  return () => `${worker.bootId} listens`;
}

export function killWorker(cluster: ClusterModel, prng: Prng): Happened {
  const worker = prng.pick(cluster.living());
  if (worker === undefined) return undefined;
  cluster.killWorker(worker);
  if (cluster.primary.isAlive && cluster.living().length < MOST_WORKERS) cluster.fork();
  return () => `${worker.bootId} is killed`;
}

/** SIGHUP: a new worker first, then the old one leaves. */
export function replaceWorker(cluster: ClusterModel, prng: Prng): Happened {
  const worker = pickWorker(cluster, prng);
  if (worker?.phase !== 'listening' || !cluster.primary.isAlive || cluster.living().length >= MOST_WORKERS)
    return undefined;
  const { bootId } = cluster.fork();
  worker.phase = 'leaving';
  cluster.publishRoster();
  cluster.retire(worker);
  return () => `${worker.bootId} leaves, ${bootId} is forked`;
}

export function stopOrContinue(cluster: ClusterModel, prng: Prng): Happened {
  const worker = prng.pick(cluster.living());
  if (worker === undefined) return undefined;
  worker.isStopped = !worker.isStopped;
  return () => `${worker.bootId} is ${worker.isStopped ? 'stopped' : 'continued'}`;
}

export function restartController(cluster: ClusterModel, prng: Prng): Happened {
  cluster.controllers = [];
  cluster.startController();
  greet(cluster, prng);
  return () => `all controllers die, ${cluster.controllers[0]?.id} starts`;
}

/** A new controller takes over while the old one goes on, perhaps without hearing of it. */
export function takeOver(cluster: ClusterModel, prng: Prng): Happened {
  cluster.controllers = cluster.controllers.slice(-1);
  const [old] = cluster.controllers;
  if (old && prng.chance(0.5)) for (const { bootId } of cluster.living()) cluster.cutOff(old.id, bootId);
  cluster.startController();
  greet(cluster, prng);
  return () => `${cluster.controllers[1]?.id} takes over from ${cluster.controllers[0]?.id}`;
}

/** Perhaps the first that a new controller hears is long out of date, and it acts on it at once. */
function greet({ bus, controllers, pods, nowMs }: ClusterModel, prng: Prng): void {
  const controller = controllers.at(-1);
  if (controller === undefined || prng.chance(0.6)) return;
  for (let n = prng.int(6); n > 0; n -= 1) {
    const report = prng.pick(bus.pastReports);
    if (report) controller.hear({ kind: 'report', to: controller.id, report }, nowMs);
  }
  if (prng.chance(0.5)) controller.pass(pods, nowMs);
}

export function killPrimary(cluster: ClusterModel): Happened {
  if (!cluster.primary.isAlive) return undefined;
  cluster.killPrimary();
  return () => 'the primary is killed';
}

export function startPrimary(cluster: ClusterModel): Happened {
  if (cluster.primary.isAlive || cluster.living().length >= MOST_WORKERS) return undefined;
  cluster.startPrimary();
  return () => `${cluster.primary.id} starts`;
}

export function passTime(cluster: ClusterModel, prng: Prng): Happened {
  cluster.nowMs += prng.int(1_500);
  return () => 'time passes';
}

/** Everything on its way arrives in order, and what follows from it too; one controller works meanwhile. */
export function allGoesWell(cluster: ClusterModel, prng: Prng): Happened {
  const controller = prng.pick(cluster.controllers);
  if (controller === undefined) return undefined;
  exchange(cluster, controller);
  return () => 'all messages arrive';
}
