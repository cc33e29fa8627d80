import type { ClusterModel } from './cluster-model.ts';
import type { ModelController } from './model-controller.ts';

/** answers to answers; a rule without one of its clauses may never come to rest */
const MOST_TURNS = 20;

/** One round of reports and everything that follows from it. */
export function exchange(cluster: ClusterModel, controller: ModelController): void {
  const { bus } = cluster;
  cluster.publishRoster();
  for (const worker of cluster.living()) {
    if (worker.isStopped) continue;
    const slice = bus.read(worker.bootId);
    if (slice) bus.inFlight.push({ kind: 'slice', to: worker.bootId, slice });
    cluster.publishReport(worker);
  }
  for (const bootId of controller.unacked()) controller.put(bootId);
  for (
    let turn = 0;
    turn < MOST_TURNS && (turn === 0 || bus.inFlight.length + bus.puts.length > 0);
    turn += 1
  ) {
    for (const put of bus.puts.splice(0)) bus.arrive(put);
    for (const message of bus.inFlight.splice(0)) cluster.deliver(message);
    controller.pass(cluster.pods, cluster.nowMs);
  }
}
