import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@pagefleet/client';
import type { ClusterFile, FleetStatus } from '@pagefleet/contract';
import { endpointUrl } from '../cluster/endpoint.ts';
import { readOperatorToken } from '../cluster/prepare-cluster.ts';
import { describeChanges } from './describe-changes.ts';

const POLL_MS = 1_000;

/** Prints one line for each thing that changes, until stopped. */
export function watchFleet(
  cluster: ClusterFile,
  options: { readonly say: (line: string) => void; readonly signal: AbortSignal },
): { stop(): void } {
  const own = new AbortController();
  const signal = AbortSignal.any([own.signal, options.signal]);
  void follow(cluster, options.say, signal).catch(() => undefined);
  return { stop: () => own.abort() };
}

async function follow(cluster: ClusterFile, say: (line: string) => void, signal: AbortSignal): Promise<void> {
  const client = createClient({ url: endpointUrl(cluster), token: readOperatorToken(cluster) });
  let before: FleetStatus | null = null;
  let isSilent = false;
  try {
    while (!signal.aborted) {
      const now = await client.status(signal).catch(() => null);
      if (signal.aborted) return;
      if (now) {
        if (isSilent) say('the controller answers again');
        for (const line of describeChanges(before, now)) say(line);
        before = now;
      } else if (!isSilent) {
        say('the controller does not answer; pages go on with the pods the workers hold');
      }
      isSilent = now === null;
      await sleep(POLL_MS, undefined, { signal });
    }
  } finally {
    await client.close();
  }
}
