import { join } from 'node:path';
import { isProfileName, POD_ENV_PREFIX, POD_FILES, POD_PORT, type PodSettings } from '@pagefleet/contract';
import { createEngine, type ServerEngineHooks } from '@pagefleet/engines';
import { createLogger, decodePodSettings, type Logger, monotonicMs, startWatchdog } from '@pagefleet/runtime';
import { createGatewayApp } from './create-gateway-app.ts';
import { createEnding } from './end-gateway.ts';
import { createEngineKeeper } from './engine-keeper.ts';
import { openEngineLog } from './engine-log.ts';
import { engineSettings } from './engine-settings.ts';
import { MAX_DEADLINE_MS } from './parse-page-headers.ts';
import { createPod } from './pod.ts';
import { openPodHome, type PodHome } from './pod-home.ts';
import { openPodLog } from './pod-log.ts';
import { createSelfRemoval, type SelfRemoval } from './remove-self.ts';
import { startGuard } from './start-guard.ts';
import { watchOwner } from './watch-owner.ts';

/** Below the 15 s after which the local provider kills. */
const SIGNAL_GRACE_MS = 10_000;
const LOG_MAX_BYTES = 20_000_000;
const WATCHDOG_REPEAT_MS = 30_000;

/** Reads its settings, serves until its owner, a signal or its owner's silence ends it, and exits. */
export async function runGateway(env: NodeJS.ProcessEnv): Promise<void> {
  const { settings, unknown, apiKey } = readSettings(env);
  const home = openPodHome(settings.portFile);
  const { logger, flush } = await openLog(settings, home);
  const hasServer = home !== null && isProfileName(settings.engine);
  const engineLog = await openEngineLog(hasServer ? join(home.dir, POD_FILES.engineLog) : null);
  const exit = async (code: number): Promise<never> => {
    await Promise.all([flush(), engineLog.flush()]);
    process.exit(code);
  };
  if (home && !(await home.announce())) {
    logger.warn('pod_was_ended_before_it_started');
    return exit(0);
  }
  if (home) startGuard(logger);
  startWatchdog({
    name: 'gateway',
    stallMs: settings.stallMs,
    repeatMs: WATCHDOG_REPEAT_MS,
    fatalMs: settings.fatalStallMs,
    logger,
  });

  const told = engineSettings(settings, home && join(home.dir, POD_FILES.engine));
  const hooks = engineHooks(logger, engineLog.write);
  const engine = createEngineKeeper({ create: () => createEngine(told, hooks), logger });
  const pod = createPod({ settings, engine, logger, monotonicMs });
  const removal = settings.removal === 'runpod' ? createSelfRemoval({ settings, apiKey, logger }) : null;
  const end = (reason: string, graceMs: number, how: 'end' | 'leave' = 'end'): void => {
    watch.stop();
    void ending[how](reason, graceMs).then(() => exit(0));
  };
  const app = createGatewayApp(pod, {
    unknownSettings: unknown,
    warnings: warningsOf(removal),
    onShutdown: () => end('shutdown', MAX_DEADLINE_MS, 'leave'),
  });
  const ending = createEnding(pod, { app, home, removal });
  const watch = watchOwner(pod, home, (why) => {
    logger.error({ silentMs: Math.round(pod.owner.silentMs()), deadManMs: settings.deadManMs }, why);
    if (why === 'account_gone') return end(why, 0);
    // Ended it would only be started again; as it is, an owner that comes back finds it.
    if (removal?.hindrance) return logger.error({ reason: removal.hindrance }, 'pod_cannot_remove_itself');
    end(why, 0, 'leave');
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => end(signal, SIGNAL_GRACE_MS));
  // The end of a terminal or of the renter's session is not the end of the pod.
  process.on('SIGHUP', () => undefined);

  const port = await listen(app, settings);
  await home?.writePort(port);
  logger.info(
    {
      ...{ port, width: settings.width, engine: settings.engine, transport: settings.transport },
      ...{ unknownSettings: unknown, warnings: warningsOf(removal) },
    },
    'pod_serving',
  );
}

/** Takes what the pod is told out of the environment. */
function readSettings(env: NodeJS.ProcessEnv) {
  const { settings: told, unknown } = decodePodSettings(env);
  const { RUNPOD_API_KEY: apiKey } = env;
  forgetSettings(env);
  const port = told.port === 0 && told.portFile === '' ? POD_PORT : told.port;
  return { settings: { ...told, port }, unknown, apiKey };
}

function warningsOf(removal: SelfRemoval | null): string[] {
  return removal?.hindrance ? [removal.hindrance] : [];
}

type App = ReturnType<typeof createGatewayApp>;

async function listen(app: App, { host, port, width }: PodSettings): Promise<number> {
  // Above anything a pod may be sent, so that no connection is refused for want of room.
  await app.listen({ host, port, backlog: Math.max(511, 2 * width + 1) });
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new Error('the gateway has no port');
  return address.port;
}

async function openLog(
  settings: PodSettings,
  home: PodHome | null,
): Promise<{ logger: Logger; flush: () => Promise<void> }> {
  const path = (await home?.ownLog()) ?? null;
  const log = await openPodLog({ fd: 1, path, maxBytes: LOG_MAX_BYTES });
  const logger = createLogger({
    component: 'gateway',
    level: settings.logLevel,
    bindings: { pod: settings.podId },
    destination: log,
  });
  return { logger, flush: log.flush };
}

/** No child of ours, and nothing that prints its environment, is told the token or the provider's key. */
function forgetSettings(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(env)) {
    if (name.startsWith(POD_ENV_PREFIX) || name === 'RUNPOD_API_KEY') delete env[name];
  }
}

function engineHooks(logger: Logger, onOutput: (chunk: string) => void): ServerEngineHooks {
  return {
    onEvent: ({ event, ...fields }) => logger.info(fields, event),
    onOutput,
  };
}
