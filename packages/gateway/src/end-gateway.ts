import { setTimeout as sleep } from 'node:timers/promises';
import { PagefleetError } from '@pagefleet/contract';
import type { FastifyInstance } from 'fastify';
import type { Pod } from './pod.ts';
import type { PodHome } from './pod-home.ts';

/** For each step after the pages: what takes longer is cut off by the guard and the end of the process. */
const STEP_MS = 2_000;

export interface Ending {
  /** Ends the pod in order and resolves when it may exit. Called again, it can only shorten what was granted. */
  end(reason: string, graceMs: number): Promise<void>;
}

/** No new pages; what runs may finish within its grace and is aborted then; the engine is closed; the exit is noted. */
export function createEnding(pod: Pod, app: FastifyInstance, home: PodHome | null): Ending {
  let ended: Promise<void> | null = null;
  const hurry = new AbortController();

  async function run(reason: string): Promise<void> {
    pod.logger.info({ reason, running: pod.gate.running(), waiting: pod.gate.waiting() }, 'pod_ending');
    await Promise.race([pod.register.idle(), untilAborted(hurry.signal)]);
    pod.register.abortAll(new PagefleetError('stopping', 'the pod ended before the page was read'));
    await atMost(STEP_MS, pod.register.idle());
    await home?.writeExit(reason);
    // Answers that are ready go out; idle connections are closed.
    await atMost(STEP_MS, app.close());
    await atMost(STEP_MS, pod.engine.close());
    pod.logger.info({ reason, pagesDone: pod.pagesDone }, 'pod_ended');
  }

  return {
    end(reason, graceMs) {
      pod.stopping = true;
      setTimeout(() => hurry.abort(), graceMs).unref();
      ended ??= run(reason);
      return ended;
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, sleep(ms, undefined, { ref: false })]).catch(() => undefined);
}
