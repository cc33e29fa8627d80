import { mkdirSync } from 'node:fs';
import { modelNamesOf, PagefleetError } from '@pagefleet/contract';
import { openProvider } from '@pagefleet/providers';
import {
  clusterPaths,
  connectBus,
  createLogger,
  loadClusterFile,
  loadOrCreateSecret,
  onShutdown,
  startWatchdog,
} from '@pagefleet/runtime';
import { Controller, newControllerId } from './controller.ts';
import { holdState } from './hold-state.ts';
import { createAuthorise } from './http/authorise.ts';
import { createControllerApp } from './http/create-app.ts';

/** The journal's last lines and the connections; pods are left as they are. */
const STOP_TIMEOUT_MS = 15_000;
const WATCHDOG_REPEAT_MS = 30_000;

const cluster = loadClusterFile();
const { config } = cluster;
const paths = clusterPaths(cluster.stateDir);
const controllerId = newControllerId();
const logger = createLogger({ component: 'controller', level: config.logLevel });
startWatchdog({
  name: 'controller',
  stallMs: config.watchdog.stallMs,
  repeatMs: WATCHDOG_REPEAT_MS,
  fatalMs: config.watchdog.fatalMs,
  logger,
});

const box: { controller: Controller | null } = { controller: null };
const running = (): Controller => {
  if (box.controller === null) throw new PagefleetError('starting', 'the controller is starting');
  return box.controller;
};

async function main(): Promise<void> {
  mkdirSync(paths.controllerDir, { recursive: true, mode: 0o700 });
  const held = await holdState(paths.controllerSocket, controllerId);
  const { app, ready } = createControllerApp({
    logger,
    authorise: createAuthorise({ config, operatorTokenFile: cluster.operatorTokenFile }),
    status: () => running().status(),
    leases: () => running().leases,
    plan: () => running().plan(),
    health: () => running().health(),
    metrics: () => running().metrics(),
    models: () => [...new Set(config.pools.flatMap((pool) => [pool.name, ...modelNamesOf(pool)]))],
    down: (request) => running().down(request),
  });
  await app.listen({ host: '127.0.0.1', port: cluster.ports.controller });
  const secret = loadOrCreateSecret(cluster.secretFile, {
    keyFile: config.secretKeyFile,
    onUnstored: (err) => logger.warn({ err }, 'secret_key_not_stored'),
  });
  const bus = await connectBus({
    url: cluster.natsUrl,
    credentialsFile: cluster.natsCredentialsFile,
    name: 'controller',
    logger,
  });
  const provider = openProvider(cluster, logger);
  const controller = await Controller.start({
    ...{ cluster, paths, secret, bus, provider, controllerId, logger },
    onDeposed: leave,
  });
  held.onLost(() => {
    logger.error({ controllerId }, 'state_directory_lost');
    leave();
  });
  box.controller = controller;
  ready();
  logger.info(
    { controllerId, port: cluster.ports.controller, clusterId: cluster.clusterId },
    'controller_ready',
  );
  onShutdown({
    logger,
    signals: ['SIGTERM', 'SIGINT', 'SIGHUP'],
    timeoutMs: STOP_TIMEOUT_MS,
    steps: [
      { name: 'http', run: async () => app.close() },
      { name: 'controller', run: () => controller.stop() },
      { name: 'provider', run: () => provider.close() },
      { name: 'bus', run: () => bus.close() },
      { name: 'state', run: () => held.release() },
    ],
  });
}

/** Somebody else is in charge, or may be: whatever this process still did would be against them. */
function leave(): void {
  setTimeout(() => process.exit(1), 100);
}

main().catch((err: unknown) => {
  logger.fatal({ err }, 'controller_start_failed');
  logger.flush(() => process.exit(1));
});
