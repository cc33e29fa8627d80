import { PagefleetError } from '@pagefleet/contract';
import {
  isSameProcess,
  type Logger,
  type ProcessIdentity,
  pollUntil,
  signalProcess,
} from '@pagefleet/runtime';
import { findProcess } from './observe-pod.ts';
import { isPodId, openPodFolder } from './pod-folder.ts';

const TERMINATED = 'terminated';
const LOOK_EVERY_MS = 250;

export interface EndContext {
  readonly accountDir: string;
  readonly logger: Logger;
  /** a pod that still runs so long after it was asked to end is killed; above the gateway's own bound */
  readonly killAfterMs: number;
}

/**
 * Ends pods: SIGTERM to the gateway, which ends what it runs, then SIGKILL to its whole group. The identity is checked
 * before each signal. The killing is done by whoever asked first, or by the next one who asks once it is overdue.
 */
export function createPodEnder({
  accountDir,
  logger,
  killAfterMs,
}: EndContext): (id: string) => Promise<undefined> {
  const waitingToKill = new Set<string>();

  async function end(id: string): Promise<undefined> {
    if (!isPodId(id)) throw new PagefleetError('bad_request', `"${id}" is not the id of a local pod`);
    const folder = openPodFolder(accountDir, id);
    if (!(await folder.exists())) return;
    const nowMs = Date.now();
    // From here on a process that has not written its identity yet ends by itself.
    const mark = await folder.writeExit(TERMINATED, nowMs).catch((cause: unknown) => ({ cause }));
    const found = await findProcess(folder);
    if (found.kind !== 'alive') {
      if (found.kind === 'unknown' && 'cause' in mark && (await folder.exists())) throw mark.cause;
      return;
    }
    const leader = found.process;
    if ('atMs' in mark && nowMs - mark.atMs >= killAfterMs) await killGroup(leader, id);
    else {
      logger.info({ pod: id, child: leader.pid }, 'pod_asked_to_end');
      if (await signalProcess(leader, 'SIGTERM')) killLater(id, leader);
    }
  }

  function killLater(id: string, leader: ProcessIdentity): void {
    if (waitingToKill.has(id)) return;
    waitingToKill.add(id);
    const isGone = async (): Promise<true | undefined> => ((await isSameProcess(leader)) ? undefined : true);
    pollUntil({ poll: isGone, intervalMs: LOOK_EVERY_MS, deadlineMs: killAfterMs })
      .catch(() => killGroup(leader, id))
      .catch((err: unknown) => logger.error({ err, pod: id }, 'pod_not_killed'))
      .finally(() => waitingToKill.delete(id));
  }

  async function killGroup(leader: ProcessIdentity, id: string): Promise<void> {
    if (!(await isSameProcess(leader))) return;
    logger.warn({ pod: id, child: leader.pid }, 'pod_killed');
    try {
      process.kill(-leader.pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  return async (id) => {
    try {
      await end(id);
    } catch (cause) {
      if (cause instanceof PagefleetError) throw cause;
      throw new PagefleetError('provider_failed', `pod ${id} could not be asked to end`, { cause });
    }
  };
}
