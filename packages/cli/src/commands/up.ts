import { setTimeout as sleep } from 'node:timers/promises';
import { type ClusterFile, ERRORS } from '@pagefleet/contract';
import { type ClusterPaths, clusterPaths } from '@pagefleet/runtime';
import { accountOf, endNewPods } from '../cluster/end-new-pods.ts';
import { endpointUrl } from '../cluster/endpoint.ts';
import { type ConfigOptions, loadCliConfig } from '../cluster/environment.ts';
import { runningGroup } from '../cluster/group.ts';
import { requirePrompts } from '../cluster/require-prompts.ts';
import { startCluster } from '../cluster/start-cluster.ts';
import { waitReady } from '../cluster/wait-ready.ts';
import { readSample } from '../demo/read-sample.ts';
import { bringDown } from '../fleet/bring-down.ts';
import { reportDown } from '../fleet/report-down.ts';
import { watchFleet } from '../fleet/watch-fleet.ts';
import { upAgain } from '../rehearsal/rehearsal-config.ts';
import { type Interrupts, watchInterrupts } from '../terminal/interrupts.ts';
import { printError } from '../terminal/print-error.ts';
import { say } from '../terminal/say.ts';

const GROUP_POLL_MS = 1_000;
/** how long an `up` waits for a `down` of another terminal to finish */
const OTHER_COMMAND_MS = 120_000;

interface UpOptions extends ConfigOptions {
  readonly detach?: boolean;
  /** another place to rent from than the configuration says */
  readonly provider?: 'fake-runpod';
  /** read the bundled sample once the cluster is ready */
  readonly demo?: boolean;
}

export async function up(options: UpOptions): Promise<number> {
  const loaded = loadCliConfig(options);
  await requirePrompts(loaded);
  const { config } = loaded;
  const interrupts = watchInterrupts();
  const rehearse = options.provider === 'fake-runpod';
  const cluster = await startCluster(config, { say, rehearse });
  const paths = clusterPaths(cluster.stateDir);
  if (rehearse)
    say(
      'a rehearsal: pods are rented from a pretended RunPod on this machine, for pretended money; some settings differ (docs/fake-runpod.md)',
    );
  say(`starting nats, controller, ${config.workers} workers and nginx on ${paths.stateDir}`);
  let failure: unknown = null;
  try {
    await waitReady(paths, cluster, { say, signal: interrupts.first });
    printAddresses(cluster);
    if (options.detach) return 0;
    await stay(paths, cluster, { ...options, signal: interrupts.first });
  } catch (error) {
    if (!interrupts.first.aborted) failure = error;
  }
  const failedCode = failure === null ? 0 : printError(failure);
  const code = await leave(paths, cluster, interrupts);
  return failedCode || code;
}

/** Until a signal comes, another command ends the cluster, or the sample was read and nobody is there to press Ctrl-C. */
async function stay(
  paths: ClusterPaths,
  cluster: ClusterFile,
  { demo, signal }: UpOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const watched = watchFleet(cluster, { say, signal });
  try {
    if (demo) {
      await readSample(cluster, { say, signal });
      if (process.env.PAGEFLEET_START_ONCE === '1' && !process.stdin.isTTY) return;
    }
    say('running; Ctrl-C ends the cluster and its pods');
    while (!signal.aborted) {
      if ((await runningGroup(paths)) === null)
        return say('supervisord has ended, by another command or a kill');
      await sleep(GROUP_POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    watched.stop();
  }
}

/** Ctrl-C ends everything. A closed terminal or a kill leaves the pods to be taken over, and says what they cost. */
async function leave(paths: ClusterPaths, cluster: ClusterFile, interrupts: Interrupts): Promise<number> {
  const { second } = interrupts;
  const signal = interrupts.firstName();
  const keepPods = signal !== null && signal !== 'SIGINT';
  say(
    keepPods
      ? `${signal}: stopping, the pods are kept`
      : 'bringing the cluster down; Ctrl-C again stops waiting',
  );
  const work = bringDown(paths, cluster, { keepPods, say, signal: second, waitMs: OTHER_COMMAND_MS });
  const outcome = await (keepPods ? work : endNewPods(accountOf(cluster), work, say));
  const code = reportDown(outcome, keepPods, upAgain(cluster));
  return second.aborted ? ERRORS.interrupted.exitCode : code;
}

function printAddresses(cluster: ClusterFile): void {
  const url = endpointUrl(cluster);
  say(`ready: ${url}`);
  console.error(`
  read a document   curl --data-binary @FILE -H 'Accept: text/plain' ${url}/v1/ocr
  status            ${url}/v1/fleet/status   or: pagefleet status
  metrics           ${url}/metrics
  logs              ${cluster.stateDir}/logs
  operator's token  ${cluster.operatorTokenFile}
`);
}
