import cluster, { type Worker } from 'node:cluster';
import { programPath } from '@pagefleet/runtime';
import { BOOT_ID_VARIABLE, WORKER_VARIABLE } from './member-env.ts';
import { type FromWorker, parseFromWorker, type ToWorker } from './worker-messages.ts';

/** A forked worker process, as the group sees it. */
export interface MemberProcess {
  /** 0 when it could not be started; its exit is told all the same */
  readonly pid: number;
  send(message: ToWorker): void;
  onMessage(take: (message: FromWorker) => void): void;
  onExit(take: (how: { readonly code: number | null; readonly signal: string | null }) => void): void;
  kill(): void;
}

export type ForkMember = (bootId: string, worker: number) => MemberProcess;

// Each worker accepts on its own port by itself; the primary only holds the handle, so that a port never closes.
cluster.schedulingPolicy = cluster.SCHED_NONE;

export const forkMember: ForkMember = (bootId, worker) => {
  cluster.setupPrimary({ exec: programPath('worker'), args: [] });
  const forked = cluster.fork({ [BOOT_ID_VARIABLE]: bootId, [WORKER_VARIABLE]: String(worker) });
  return memberOf(forked);
};

function memberOf(forked: Worker): MemberProcess {
  return {
    pid: forked.process.pid ?? 0,
    send(message) {
      // A process that has just ended is told nothing; its exit follows.
      if (forked.isConnected()) forked.send(message, (error) => void error);
    },
    onMessage(take) {
      forked.on('message', (message) => {
        const told = parseFromWorker(message);
        if (told) take(told);
      });
    },
    onExit(take) {
      forked.process.once('exit', (code, signal) => take({ code, signal }));
      // A process that was never started ends with an error instead; one that runs may have errors and live on.
      forked.on('error', () => {
        if (forked.process.pid === undefined) take({ code: null, signal: null });
      });
    },
    kill: () => void forked.process.kill('SIGKILL'),
  };
}
