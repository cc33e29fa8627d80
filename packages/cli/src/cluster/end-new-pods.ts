import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterFile } from '@pagefleet/contract';
import type { ListedPod } from '@pagefleet/providers';
import { listOwnPods, openProvider } from '../fleet/own-provider.ts';

const LIST_EVERY_MS = 2_000;
/** A controller that lives looks as often, and ends the pod itself once it has seen it; one that it never sees it waits for. */
const LOOKS = 3;

interface Account {
  list(): Promise<readonly ListedPod[]>;
  terminate(podId: string): Promise<unknown>;
}

/** The cluster's own pods in the provider's account. */
export function accountOf(cluster: ClusterFile): Account {
  let provider: ReturnType<typeof openProvider> | null = null;
  const open = () => {
    provider ??= openProvider(cluster);
    return provider;
  };
  return {
    list: async () => listOwnPods(open(), cluster),
    terminate: async (podId) => open().terminate(podId),
  };
}

/**
 * Ends pods that appear while a cluster is brought down: a controller that has not heard of the end yet still rents. Pods
 * that were there before are left to the work itself, which drains them.
 */
export async function endNewPods<T>(
  account: Account,
  work: Promise<T>,
  say: (line: string) => void,
  everyMs = LIST_EVERY_MS,
): Promise<T> {
  const done = new AbortController();
  const watching = watch(account, { say, everyMs, signal: done.signal });
  try {
    return await work;
  } finally {
    done.abort();
    await watching;
  }
}

async function watch(
  account: Account,
  options: { say: (line: string) => void; everyMs: number; signal: AbortSignal },
): Promise<void> {
  const { say, everyMs, signal } = options;
  let before: ReadonlySet<string> | null = null;
  const looks = new Map<string, number>();
  while (!signal.aborted) {
    // A listing that fails says nothing; the work's own one, at its end, is the one that counts.
    const pods = await account.list().catch(() => null);
    before ??= pods && new Set(pods.map(({ id }) => id));
    for (const pod of pods ?? []) {
      if (signal.aborted || before?.has(pod.id)) continue;
      const seen = (looks.get(pod.id) ?? 0) + 1;
      looks.set(pod.id, seen);
      if (seen < LOOKS) continue;
      if (seen === LOOKS) say(`ending pod ${pod.name}, which appeared while stopping`);
      await account.terminate(pod.id).catch(() => undefined);
    }
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}
