import { setTimeout as sleep } from 'node:timers/promises';
import { PagefleetError } from '@pagefleet/contract';
import type { FastifyInstance } from 'fastify';
import type { Pod } from './pod.ts';
import type { PodHome } from './pod-home.ts';
import type { SelfRemoval } from './remove-self.ts';

/** For each step after the pages: what takes longer is cut off by the guard and the end of the process. */
const STEP_MS = 2_000;

export interface Ending {
  /** Ends the pod in order and resolves when it may exit. Called again, it can only shorten what was granted. */
  end(reason: string, graceMs: number): Promise<void>;
  /** The same for good: nobody wants the pod any more, so its provider is asked to remove it before it ends. */
  leave(reason: string, graceMs: number): Promise<void>;
}

interface EndingParts {
  readonly app: FastifyInstance;
  /** null: it has no folder */
  readonly home: PodHome | null;
  /** null: the end of the process is the end of the pod */
  readonly removal: SelfRemoval | null;
}

/** No new pages; what runs may finish within its grace and is aborted then; the engine is closed; the exit is noted. */
export function createEnding(pod: Pod, { app, home, removal }: EndingParts): Ending {
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

  function end(reason: string, graceMs: number): Promise<void> {
    pod.stopping = true;
    setTimeout(() => hurry.abort(), graceMs).unref();
    ended ??= run(reason);
    return ended;
  }

  return {
    end,
    async leave(reason, graceMs) {
      if (removal === null) return end(reason, graceMs);
      pod.stopping = true;
      // Every page has a deadline.
      await pod.register.idle();
      await removal.run();
      return end(reason, 0);
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, sleep(ms, undefined, { ref: false })]).catch(() => undefined);
}
