import { mkdirSync } from 'node:fs';
import { type Logger, observeProcess } from '@pagefleet/runtime';
import type { Provider } from '../port.ts';
import { createPodEnder } from './end-pod.ts';
import { forgetEndedPods } from './forget-ended-pods.ts';
import { listAccount } from './list-account.ts';
import { rentPod } from './rent-pod.ts';

export interface LocalProviderOptions {
  /** `<state>/account`: the records there stand for what a cloud knows of its pods, apart from any controller's state */
  readonly accountDir: string;
  readonly nodeBinary: string;
  readonly logger: Logger;
  readonly killAfterMs?: number;
  readonly observeProcess?: typeof observeProcess;
}

/** Above the 10 s in which a gateway finishes its pages and the few in which it ends its engine. */
const KILL_AFTER_MS = 15_000;

/**
 * Pods that are processes of this machine. They are detached, so they outlive whoever rented them, and found again by
 * their records. Several controllers and command lines may use one account at the same time.
 */
export function createLocalProvider(options: LocalProviderOptions): Provider {
  const { accountDir, logger, killAfterMs = KILL_AFTER_MS } = options;
  // Made here and nowhere else: an account that disappears later is a failed listing, not an empty one.
  mkdirSync(accountDir, { recursive: true, mode: 0o700 });
  const rentContext = { observeProcess, ...options };

  return {
    free: true,
    // The record of a pod is written by the process that rents it, before anything else.
    listingProvesAbsence: true,
    rent: (request) => rentPod(rentContext, request),
    async list() {
      const nowMs = Date.now();
      const { pods, ended } = await listAccount(accountDir, nowMs);
      void forgetEndedPods(accountDir, ended, { nowMs, logger });
      return pods;
    },
    offers: async () => null,
    usage: () => [],
    billed: async () => null,
    close: async () => undefined,
    terminate: createPodEnder({ accountDir, logger, killAfterMs }),
  };
}
