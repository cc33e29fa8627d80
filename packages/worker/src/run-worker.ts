import { mkdir } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { ClusterFile } from '@pagefleet/contract';
import { createDataplane, type Dataplane } from '@pagefleet/dataplane';
import {
  type Bus,
  clusterPaths,
  connectBus,
  createHttpApp,
  createLogger,
  type Logger,
  observeProcess,
  startWatchdog,
} from '@pagefleet/runtime';
import { leave } from './leave.ts';
import { listenUntilFree } from './listen-until-free.ts';
import { observeEpoch } from './observe-epoch.ts';
import { type Reporter, startReporter } from './reporter.ts';
import { writeRecord } from './worker-record.ts';

export interface WorkerOptions {
  readonly cluster: ClusterFile;
  /** −1 = the controller’s forwarding child */
  readonly worker: number;
  readonly port: number;
  readonly bootId: string;
  /** Somebody else still holds the port. */
  onPortTaken?(): void;
}

/** One forwarding process: HTTP in, pods out, slices followed, reports sent. */
export interface RunningWorker {
  readonly bootId: string;
  /** Stops accepting, finishes what is open and ends the process; further calls change nothing. */
  leave(deadlineMs: number | null): void;
}

/** nginx, not we, ends idle connections: above its upstream keep-alive of 5 s. */
const KEEP_ALIVE_MS = 65_000;
/** A request line and its headers come in one piece from nginx. */
const HEADERS_MS = 15_000;

export async function runWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { cluster, worker, port, bootId } = options;
  const { config } = cluster;
  const logger = createLogger({
    component: worker < 0 ? 'forwarder' : 'worker',
    level: config.logLevel,
    bindings: { worker, bootId },
    // A worker outlives its primary, and with that the pipe that supervisord read.
    successorFile: clusterPaths(cluster.stateDir).logFile('orphans'),
  });
  startWatchdog({
    name: `worker ${worker}`,
    stallMs: config.watchdog.stallMs,
    fatalMs: config.watchdog.fatalMs,
    logger,
  });
  await recordSelf(options);

  const bus = await connectBus({
    url: cluster.natsUrl,
    credentialsFile: cluster.natsCredentialsFile,
    name: `worker-${worker}-${bootId}`,
    logger,
  });
  const dataplane = createDataplane({
    ...options,
    epoch: await observeEpoch(bus),
    config,
    clusterId: cluster.clusterId,
    stateDir: cluster.stateDir,
    logger,
  });
  logger.info({ ...dataplane.sizes }, 'worker_sizes');
  for (const binding of dataplane.sizes.binding) logger.warn({ binding }, 'worker_limit_binds');

  const app = createHttpApp({
    name: 'worker',
    logger,
    requestTimeoutMs: 0,
    keepAliveTimeoutMs: KEEP_ALIVE_MS,
  });
  dataplane.registerRoutes(app);
  await app.ready();
  const { server } = app;
  limitServer(server);
  bus.bucket('slices').watch(bootId, (_key, slice) => {
    if (slice && dataplane.applySlice(slice)) logger.info(sliceLine(slice), 'slice_applied');
  });
  const reporter = startReporter(dataplane, bus, bootId);
  await listenUntilFree(server, {
    port,
    backlog: dataplane.sizes.backlog,
    logger,
    onTaken: () => options.onPortTaken?.(),
  });
  logger.info({ port, pid: process.pid }, 'worker_listening');

  let leaving = false;
  return {
    bootId,
    leave(deadlineMs) {
      if (leaving) return;
      leaving = true;
      void leave({ server, dataplane, logger, deadlineMs }).then(() =>
        end({ reporter, bus, dataplane, logger }),
      );
    },
  };
}

/** No default in force: uploads and pages time themselves, connections live as long as nginx keeps them. */
function limitServer(server: Server): void {
  server.headersTimeout = HEADERS_MS;
  server.requestTimeout = 0;
  server.timeout = 0;
  server.maxRequestsPerSocket = 0;
}

async function recordSelf({ cluster, worker, port, bootId }: WorkerOptions): Promise<void> {
  const { workersDir, spoolDir } = clusterPaths(cluster.stateDir);
  for (const folder of [workersDir, spoolDir]) await mkdir(folder, { recursive: true, mode: 0o700 });
  const self = await observeProcess(process.pid);
  if (!self) throw new Error('this process cannot be observed');
  await writeRecord(workersDir, { v: 1, bootId, worker, port, process: self });
}

interface Parts {
  readonly reporter: Reporter;
  readonly bus: Bus;
  readonly dataplane: Dataplane;
  readonly logger: Logger;
}

/** The last report says that nothing is in flight; the exit itself is what proves it. */
async function end({ reporter, bus, dataplane, logger }: Parts): Promise<void> {
  reporter.stop();
  logger.info('worker_left');
  await Promise.allSettled([bus.close(), dataplane.close()]);
  logger.flush(() => process.exit(0));
}

function sliceLine(slice: {
  epoch: number;
  rev: number;
  pods: readonly { id: string; width: number; mode: string }[];
}) {
  const pods = slice.pods.map((pod) => `${pod.id}×${pod.width}${pod.mode === 'drain' ? ' draining' : ''}`);
  return { epoch: slice.epoch, rev: slice.rev, pods };
}
