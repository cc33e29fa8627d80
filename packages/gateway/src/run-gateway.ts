import type { PodSettings } from '@pagefleet/contract';
import { createEngine, type EngineSettings } from '@pagefleet/engines';
import { createLogger, decodePodSettings, type Logger, monotonicMs, startWatchdog } from '@pagefleet/runtime';
import { createGatewayApp } from './create-gateway-app.ts';
import { createEnding } from './end-gateway.ts';
import { createEngineKeeper } from './engine-keeper.ts';
import { MAX_DEADLINE_MS } from './parse-page-headers.ts';
import { createPod } from './pod.ts';
import { openPodHome, type PodHome } from './pod-home.ts';
import { openPodLog } from './pod-log.ts';
import { startGuard } from './start-guard.ts';
import { watchOwner } from './watch-owner.ts';

/** Below the 15 s after which the local provider kills. */
const SIGNAL_GRACE_MS = 10_000;
const LOG_MAX_BYTES = 20_000_000;
const WATCHDOG_REPEAT_MS = 30_000;

/** Reads its settings, serves until its owner, a signal or its owner's silence ends it, and exits. */
export async function runGateway(env: NodeJS.ProcessEnv): Promise<void> {
  const { settings, unknown } = decodePodSettings(env);
  forgetSettings(env);
  const home = openPodHome(settings.portFile);
  const { logger, flush } = await openLog(settings, home);
  const exit = async (code: number): Promise<never> => {
    await flush();
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

  const engine = createEngineKeeper({ create: () => createEngine(engineSettings(settings)), logger });
  const pod = createPod({ settings, engine, logger, monotonicMs });
  const end = (reason: string, graceMs: number): void => {
    watch.stop();
    void ending.end(reason, graceMs).then(() => exit(0));
  };
  const app = createGatewayApp(pod, {
    unknownSettings: unknown,
    onShutdown: () => end('shutdown', MAX_DEADLINE_MS),
  });
  const ending = createEnding(pod, app, home);
  const watch = watchOwner(pod, home, (why) => {
    logger.error({ silentMs: Math.round(pod.owner.silentMs()), deadManMs: settings.deadManMs }, why);
    end(why, 0);
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => end(signal, SIGNAL_GRACE_MS));
  // The end of a terminal or of the renter's session is not the end of the pod.
  process.on('SIGHUP', () => undefined);

  const port = await listen(app, settings);
  await home?.writePort(port);
  logger.info(
    { port, width: settings.width, engine: settings.engine, unknownSettings: unknown },
    'pod_serving',
  );
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

/** No child of ours, and nothing that prints its environment, is told the token. */
function forgetSettings(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(env)) {
    if (name.startsWith('PAGEFLEET_POD_')) delete env[name];
  }
}

function engineSettings(settings: PodSettings): EngineSettings {
  const { engine: kind, width } = settings;
  if (kind === 'sleep') return { kind, width, sleepMs: settings.sleepMs };
  const { languages, dpi, pageTimeoutMs, maxPixels, tesseract: implementation } = settings;
  return { kind, width, languages, dpi, pageTimeoutMs, maxPixels, implementation };
}
