import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { POD_FILES } from '@pagefleet/contract';
import {
  encodePodSettings,
  type Logger,
  type observeProcess,
  programPath,
  writeFileAtomic,
} from '@pagefleet/runtime';
import type { RentOutcome, RentRequest } from '../port.ts';
import { openPodFolder, type PodFolder, type PodRecord } from './pod-folder.ts';

export interface RentContext {
  readonly accountDir: string;
  readonly nodeBinary: string;
  readonly logger: Logger;
  readonly observeProcess: typeof observeProcess;
}

/** Variables of ours that a pod and its engine need; everything else of our environment stays here. */
const PASSED_ON = new Set(['PATH', 'HOME', 'LANG', 'TMPDIR', 'TESSDATA_PREFIX', 'LD_LIBRARY_PATH']);
/** What model servers, their hub and their way to it are told. */
const OF_MODEL_SERVERS = /^(?:HF|CUDA|NVIDIA|VLLM)_|^(?:https?|no)_proxy$/i;

/** The record is on disk before anything is started, and the pod's identity before anyone is told. */
export async function rentPod(context: RentContext, request: RentRequest): Promise<RentOutcome> {
  let made: { record: PodRecord; folder: PodFolder };
  try {
    made = await makeFolder(context.accountDir, request);
  } catch (cause) {
    context.logger.error({ err: cause, name: request.mark.name }, 'pod_record_not_written');
    return {
      kind: 'refused',
      fault: 'account',
      reason: `the record of the pod cannot be written: ${messageOf(cause)}`,
    };
  }
  const { record, folder } = made;
  const refuse = async (reason: string): Promise<RentOutcome> => {
    await folder.writeExit(reason, Date.now()).catch(() => undefined);
    return { kind: 'refused', fault: 'account', reason };
  };

  let child: ChildProcess;
  try {
    child = await startGateway(context, request, { record, folder });
  } catch (cause) {
    return refuse(`the gateway cannot be started: ${messageOf(cause)}`);
  }
  try {
    const identity = child.pid === undefined ? null : await context.observeProcess(child.pid);
    if (identity === null) return refuse('the gateway ended as soon as it was started; see its log');
    await writeFileAtomic(folder.path('spawned'), JSON.stringify(identity));
  } catch (cause) {
    // It runs, or ran, and writes its own identity: a listing finds it.
    return { kind: 'ambiguous', cause };
  }
  context.logger.info({ pod: record.id, name: record.name, child: child.pid }, 'pod_spawned');
  const { id, name, mark, createdAtMs } = record;
  return {
    kind: 'rented',
    pod: {
      ...{ id, name, mark, url: null, createdAtMs, priceUsdPerHour: 0, status: 'running' },
      ...{ card: null, cloud: null, detail: 'running' },
    },
  };
}

/** Made under another name and renamed when whole: a pod's folder always has its record. */
async function makeFolder(
  accountDir: string,
  { mark, settings }: RentRequest,
): Promise<{ record: PodRecord; folder: PodFolder }> {
  const id = `local-${randomUUID().slice(0, 8)}`;
  const record: PodRecord = { v: 1, id, name: mark.name, mark, host: settings.host, createdAtMs: Date.now() };
  const unfinished = join(accountDir, `.new-${id}`);
  try {
    await mkdir(unfinished, { mode: 0o700 });
    await writeFileAtomic(join(unfinished, POD_FILES.record), JSON.stringify(record, null, 2));
    // An id that is taken is refused here: a folder with something in it is never renamed over.
    await rename(unfinished, join(accountDir, id));
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
  return { record, folder: openPodFolder(accountDir, id) };
}

async function startGateway(
  { nodeBinary, logger }: RentContext,
  { mark, settings }: RentRequest,
  { record, folder }: { record: PodRecord; folder: PodFolder },
): Promise<ChildProcess> {
  const told = encodePodSettings({ ...settings, ...mark, podId: record.id, portFile: folder.path('port') });
  const log = await open(folder.path('log'), 'a', 0o600);
  try {
    const child = spawn(nodeBinary, [programPath('gateway')], {
      // A session of its own: neither our end nor a terminal's reaches the pod.
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      env: { ...passedOn(process.env), ...told },
      cwd: folder.dir,
    });
    await once(child, 'spawn');
    child.unref();
    child.once('exit', (code, signal) => {
      logger.info({ pod: record.id, code, signal }, 'pod_process_exited');
      folder
        .writeExit(signal === null ? `exit code ${code}` : `ended by ${signal}`, Date.now())
        .catch(() => undefined);
    });
    return child;
  } finally {
    await log.close().catch(() => undefined);
  }
}

export function passedOn(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name, value]) => value && (PASSED_ON.has(name) || OF_MODEL_SERVERS.test(name)),
    ),
  );
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
