import type { ClusterModel } from './cluster-model.ts';
import type { Message } from './model-bus.ts';
import type { Prng } from './prng.ts';

/** What happened, told only when somebody asks; undefined when it could not happen now. */
export type Happened = (() => string) | undefined;

/** Any message may come next; some are lost, some come again. */
export function deliverMessage(cluster: ClusterModel, prng: Prng): Happened {
  const { inFlight } = cluster.bus;
  const index = prng.chance(0.6) ? 0 : prng.int(inFlight.length);
  const message = prng.chance(0.08) ? inFlight[index] : cluster.bus.take(index);
  if (message === undefined) return undefined;
  if (prng.chance(0.1)) return () => `lost: ${message.kind} to ${message.to}`;
  cluster.deliver(message);
  return () => `${message.to} gets ${describe(message)}`;
}

export function arrivePut({ bus }: ClusterModel, prng: Prng): Happened {
  const [put] = bus.puts.splice(prng.int(bus.puts.length), 1);
  if (put === undefined) return undefined;
  const { epoch, rev } = put.slice;
  return () => `put for ${put.key} (${epoch}, ${rev}) ${bus.arrive(put) ? 'is stored' : 'comes too late'}`;
}

/** The writer hears nothing; the put itself may be lost or still be on its way. */
export function timeOutPut({ bus, controllers }: ClusterModel, prng: Prng): Happened {
  const index = prng.int(bus.puts.length);
  const put = bus.puts[index];
  if (put === undefined) return undefined;
  const isLost = prng.chance(0.3);
  if (isLost) bus.puts.splice(index, 1);
  controllers.find(({ epoch }) => epoch === put.slice.epoch)?.putTimedOut(put.key, put.slice.rev);
  return () => `put for ${put.key} times out${isLost ? ' and is lost' : ''}`;
}

export function putAgain({ controllers }: ClusterModel, prng: Prng): Happened {
  const controller = prng.pick(controllers);
  const bootId = prng.pick(controller?.unacked() ?? []);
  if (controller === undefined || bootId === undefined) return undefined;
  controller.put(bootId);
  return () => `${controller.id} puts the slice of ${bootId} again`;
}

/** A report that was sent long ago turns up again, even at a controller that did not live then. */
export function replayReport({ bus, controllers }: ClusterModel, prng: Prng): Happened {
  const controller = prng.pick(controllers);
  const old = prng.pick(bus.pastReports);
  if (controller === undefined || old === undefined) return undefined;
  bus.inFlight.push({ kind: 'report', to: controller.id, report: old });
  return () => `report ${old.seq} of ${old.bootId} comes again to ${controller.id}`;
}

export function readSlice(cluster: ClusterModel, prng: Prng): Happened {
  const worker = prng.pick(cluster.living());
  const slice = worker && cluster.bus.read(worker.bootId);
  if (worker === undefined || slice === undefined) return undefined;
  cluster.deliver({ kind: 'slice', to: worker.bootId, slice });
  return () => `${worker.bootId} reads its slice (${slice.epoch}, ${slice.rev})`;
}

export function syncStore({ bus }: ClusterModel): Happened {
  bus.sync();
  return () => 'the store is synced';
}

export function loseStore(cluster: ClusterModel): Happened {
  cluster.loseStore();
  return () => 'the store comes back as it was last synced';
}

function describe(message: Message): string {
  if (message.kind === 'slice') return `slice ${JSON.stringify(message.slice)}`;
  if (message.kind === 'roster') {
    const { primaryId, seq, workers } = message.roster;
    return `roster ${seq} of ${primaryId}: ${workers.map((w) => `${w.bootId} ${w.state}`).join(', ')}`;
  }
  const { bootId, epoch, ack, held, seq } = message.report;
  return `report ${seq} of ${bootId}: ${JSON.stringify({ epoch, ack, held })}`;
}
