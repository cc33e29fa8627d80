import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { POD_FILES, POD_PORT } from '@pagefleet/contract';
import {
  isSameProcess,
  observeProcess,
  type ProcessIdentity,
  programPath,
  realNodeBinary,
  signalProcess,
} from '@pagefleet/runtime';
import { isStockContainer, type PodRecord } from '../table/pod-record.ts';
import { furnishStockPod } from './stock-pod.ts';

/** Variables of this machine that a gateway and its engine need; nothing else of ours reaches a pod. */
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'TESSDATA_PREFIX'];

export interface ProcessPodContext {
  /** a folder for each pod is made in it */
  readonly podsDir: string;
  /** of the fake itself: where the pod's own key is good for something */
  readonly baseUrl: string;
}

/** What runs in a container: the program, and what its image adds to the environment. */
export interface Container {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const gateway = (): Container => ({ program: realNodeBinary(), args: [programPath('gateway')], env: {} });

/** Starts the pod's process. It outlives the fake, and is found again by the identity returned or the one it writes. */
export async function startProcessPod(context: ProcessPodContext, pod: PodRecord): Promise<ProcessIdentity> {
  const dir = join(context.podsDir, pod.id);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  // The end of an earlier run would end this one.
  await rm(join(dir, POD_FILES.exit), { force: true });
  const log = await open(join(dir, POD_FILES.log), 'a', 0o600);
  try {
    const isStock = isStockContainer(pod.request);
    const { program, args, env } = isStock ? await furnishStockPod(pod.request, dir) : gateway();
    const child = spawn(program, args, {
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      env: { ...passedOn(), ...podEnv(pod, context.baseUrl), ...networkEnv(pod, dir), ...env },
      cwd: dir,
    });
    await once(child, 'spawn');
    child.unref();
    const identity = child.pid === undefined ? null : await observeProcess(child.pid);
    if (identity === null) throw new Error(`the process of pod ${pod.id} ended as soon as it was started`);
    // A gateway writes down itself who it is.
    if (isStock) await writeFile(join(dir, POD_FILES.process), JSON.stringify(identity), { mode: 0o600 });
    return identity;
  } finally {
    await log.close();
  }
}

/** What RunPod puts into a container, and what its own tools read there. */
function podEnv(pod: PodRecord, baseUrl: string): Record<string, string> {
  const tcp = pod.ports.filter(({ type }) => type === 'tcp');
  return {
    ...pod.request.env,
    RUNPOD_POD_ID: pod.id,
    RUNPOD_POD_HOSTNAME: pod.podHostId,
    RUNPOD_API_KEY: pod.apiKey,
    RUNPOD_DC_ID: pod.dataCenterId,
    RUNPOD_GPU_COUNT: String(pod.request.gpuCount),
    RUNPOD_CPU_COUNT: String(pod.request.vcpuCount),
    RUNPOD_PUBLIC_IP: '127.0.0.1',
    RUNPOD_REST_V2_URL: `${baseUrl}/v2`,
    RUNPOD_GRAPHQL_URL: `${baseUrl}/graphql`,
    ...Object.fromEntries(tcp.map((port) => [`RUNPOD_TCP_PORT_${port.private}`, String(port.public)])),
  };
}

/**
 * Stands for the container's own network, in which a gateway has a fixed port. All pods of this machine share one, so
 * each is told the free port that its mapping leads to.
 */
function networkEnv(pod: PodRecord, dir: string): Record<string, string> {
  return {
    PAGEFLEET_POD_HOST: '127.0.0.1',
    PAGEFLEET_POD_PORT: String(gatewayPort(pod)),
    PAGEFLEET_POD_PORT_FILE: join(dir, POD_FILES.port),
  };
}

function gatewayPort({ ports, request }: PodRecord): number {
  const inner = Number(request.env.PAGEFLEET_POD_PORT ?? 0) || POD_PORT;
  const mapping = ports.find((port) => port.private === inner) ?? ports[0];
  return mapping?.public ?? 0;
}

function passedOn(): Record<string, string> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
}

/** The process of a pod that an earlier life of the fake started; null when none runs. */
export async function findProcessPod(podsDir: string, pod: PodRecord): Promise<ProcessIdentity | null> {
  const written = await readFile(join(podsDir, pod.id, POD_FILES.process), 'utf8').then(
    (text) => JSON.parse(text) as ProcessIdentity,
    () => null,
  );
  for (const identity of [pod.process, written]) {
    if (identity !== null && (await isSameProcess(identity))) return identity;
  }
  return null;
}

/** Asks the process to end; one that has not written its identity yet finds the mark and ends by itself. */
export async function askProcessPodToEnd(podsDir: string, pod: PodRecord): Promise<void> {
  const mark = JSON.stringify({ v: 1, reason: pod.lastStatusChange, atMs: Date.now() });
  await writeFile(join(podsDir, pod.id, POD_FILES.exit), mark, { mode: 0o600 }).catch(() => undefined);
  if (pod.process !== null) await signalProcess(pod.process, 'SIGTERM');
}

export async function killProcessPod(identity: ProcessIdentity): Promise<void> {
  if (!(await isSameProcess(identity))) return;
  try {
    process.kill(-identity.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
