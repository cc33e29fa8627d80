import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterFile } from '@pagefleet/contract';
import type { ListedPod, Provider } from '@pagefleet/providers';
import { listOwnPods } from './own-provider.ts';

const LISTING_PAUSE_MS = 500;
const ASK_AGAIN_MS = 5_000;
const DEADLINE_MS = 60_000;

interface EndOptions {
  readonly say: (line: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * Ends every pod of this cluster that the provider lists, until two listings in a row show none. Returns what is left at
 * the deadline: it may still bill.
 */
export async function endPods(
  provider: Provider,
  cluster: ClusterFile,
  { say, signal }: EndOptions,
): Promise<ListedPod[]> {
  const deadline = performance.now() + DEADLINE_MS;
  const askedMs = new Map<string, number>();
  let absences = 0;
  for (;;) {
    const left = await listOwnPods(provider, cluster);
    absences = left.length === 0 ? absences + 1 : 0;
    if (absences >= 2) return [];
    if (left.length > 0 && (performance.now() > deadline || signal?.aborted)) return left;
    for (const pod of left) {
      if (performance.now() - (askedMs.get(pod.id) ?? Number.NEGATIVE_INFINITY) < ASK_AGAIN_MS) continue;
      if (!askedMs.has(pod.id)) say(`ending pod ${pod.name}`);
      askedMs.set(pod.id, performance.now());
      await provider.terminate(pod.id);
    }
    await sleep(LISTING_PAUSE_MS);
  }
}
