import { createClient } from '@pagefleet/client';
import type { ClusterFile } from '@pagefleet/contract';
import type { ListedPod, Provider } from '@pagefleet/providers';
import type { ClusterPaths, ProcessIdentity } from '@pagefleet/runtime';
import { endSession } from '../cluster/end-session.ts';
import { controllerUrl } from '../cluster/endpoint.ts';
import { readGroup, runningGroup } from '../cluster/group.ts';
import { readOperatorToken } from '../cluster/prepare-cluster.ts';
import { withStateLock } from '../cluster/up-lock.ts';
import { endRehearsalCloud } from '../rehearsal/running-cloud.ts';
import { withItsCloud } from '../rehearsal/start-rehearsal-cloud.ts';
import { describeDownLine } from './describe-down-line.ts';
import { endPods } from './end-pods.ts';
import { listOwnPods, openProvider } from './own-provider.ts';
import { UnresolvedRents } from './unresolved-rents.ts';

export interface DownOptions {
  readonly keepPods: boolean;
  readonly say: (line: string) => void;
  /** aborted = stop waiting and report what is left */
  readonly signal: AbortSignal;
  /** another command may be at it: then wait for its end and see what it left */
  readonly waitMs?: number;
}

export interface DownOutcome {
  /** null = the account cannot be listed */
  readonly pods: readonly ListedPod[] | null;
  /** as the controller named its pods last; empty when all are gone, or it said nothing */
  readonly told: readonly string[];
  readonly processes: readonly ProcessIdentity[];
  /** names of rents that may still turn out to have been made; null when no controller could say */
  readonly unresolved: readonly string[] | null;
  /** null when no controller could say */
  readonly spendTodayUsd: number | null;
}

/** After a drain there is nothing left to finish; without one a page may still be read. */
const DRAINED_PATIENCE_MS = 20_000;

/**
 * No new pages, drain, end every pod, wait for two listings, stop the processes. Each step works without the one before: with
 * a dead controller the pods are found by the provider's listing, and one that the controller missed is found there too.
 */
export function bringDown(
  paths: ClusterPaths,
  given: ClusterFile,
  options: DownOptions,
): Promise<DownOutcome> {
  return withStateLock(
    paths,
    async () => {
      const { keepPods, say, signal } = options;
      const cluster = await withItsCloud(paths, given);
      const isRunning = (await runningGroup(paths)) !== null;
      const drained = isRunning
        ? await drainByController(cluster, options)
        : { ok: false, spend: null, rents: null };
      const group = readGroup(paths);
      let processes: ProcessIdentity[] = [];
      if (group) {
        if (isRunning) say('stopping the processes');
        const patienceMs = drained.ok ? DRAINED_PATIENCE_MS : cluster.config.limits.pageDeadlineMs + 60_000;
        processes = await endSession(group, { patienceMs, signal, say });
      }
      const provider = openProvider(cluster);
      const pods = await askAccount(provider, cluster, options);
      await provider.close();
      const unresolved = provider.listingProvesAbsence ? [] : (drained.rents?.missingIn(pods ?? []) ?? null);
      const isEmpty = pods?.length === 0 && (unresolved?.length ?? 0) === 0;
      if (!keepPods && isEmpty) await endRehearsalCloud(paths);
      return { pods, told: drained.rents?.all() ?? [], processes, unresolved, spendTodayUsd: drained.spend };
    },
    options.waitMs,
  );
}

/** null = it does not answer, so that nobody can say what is left */
async function askAccount(
  provider: Provider,
  cluster: ClusterFile,
  { keepPods, say, signal }: DownOptions,
): Promise<ListedPod[] | null> {
  try {
    if (keepPods) return await listOwnPods(provider, cluster);
    return await endPods(provider, cluster, { say, signal });
  } catch (error) {
    say((error as Error).message);
    return null;
  }
}

async function drainByController(
  cluster: ClusterFile,
  { keepPods, say, signal }: DownOptions,
): Promise<{ ok: boolean; spend: number | null; rents: UnresolvedRents | null }> {
  const client = createClient({ url: controllerUrl(cluster), token: readOperatorToken(cluster) });
  let spend: number | null = null;
  let rents: UnresolvedRents | null = null;
  const readSpend = async (): Promise<void> => {
    spend = await client.status(signal).then(
      ({ summary, money }) => summary.spend_today_usd + money.open_today_usd,
      () => spend,
    );
  };
  try {
    await readSpend();
    for await (const line of client.down({ keepPods, signal })) {
      rents ??= new UnresolvedRents();
      rents.hear(line);
      const text = describeDownLine(line);
      if (text) say(text);
    }
    // Once more: pods bill to their end.
    await readSpend();
    return { ok: true, spend, rents };
  } catch (error) {
    if (!signal.aborted) {
      say(
        `the controller cannot drain (${(error as Error).message}); pods are ended by the provider's listing`,
      );
    }
    return { ok: false, spend, rents };
  } finally {
    await client.close().catch(() => undefined);
  }
}
