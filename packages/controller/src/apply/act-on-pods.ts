import {
  type ClusterFile,
  ENGINE_PROFILES,
  isProfileName,
  isStock,
  type PodHealth,
} from '@pagefleet/contract';
import type { Pod, PodAction, ProbeResult } from '@pagefleet/core';
import type { Provider } from '@pagefleet/providers';
import type { Logger } from '@pagefleet/runtime';
import type { EpochGuard } from '../epoch-guard.ts';
import type { Fleet } from '../fleet.ts';
import type { RenterMetrics } from '../metrics.ts';
import type { ListingKeeper } from '../observe/listing-keeper.ts';
import type { PodProber, ProbeAnswer } from '../observe/pod-prober.ts';
import type { Facts } from '../world.ts';

/** An action that waited longer than this is decided again, never carried out (DESIGN 5). */
export const ACTION_MAX_AGE_MS = 30_000;

export interface PodActionDeps {
  readonly cluster: ClusterFile;
  readonly fleet: Fleet;
  readonly facts: Facts;
  readonly health: Map<string, { readonly health: PodHealth; readonly atMs: number }>;
  readonly prober: PodProber;
  readonly provider: Provider;
  readonly listings: ListingKeeper;
  /** keys of the paid calls that this process has under way */
  readonly calls: ReadonlySet<string>;
  readonly guard: EpochGuard;
  /** null = made with a secret we do not have */
  readonly tokenOf: (pod: Pod) => string | null;
  readonly metrics: RenterMetrics;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly requestPass: () => void;
}

type ProbeAction = Extract<PodAction, { kind: 'probe' | 'trial' }>;
type ResolveAction = Extract<PodAction, { kind: 'resolve' }>;
type TerminateAction = Extract<PodAction, { kind: 'terminate' }>;

/** Carries one action out, outside the mailbox. What it learns comes back as an observation of the next pass. */
export async function actOnPod(action: PodAction, decidedAtMs: number, deps: PodActionDeps): Promise<void> {
  const pod = deps.fleet.registry.get(action.podKey);
  const isStale = deps.nowMs() - decidedAtMs > ACTION_MAX_AGE_MS;
  if (pod === undefined || pod.revision !== action.revision || isStale) {
    deps.logger.debug({ action: action.kind, pod: action.podKey }, 'action_dropped');
    return;
  }
  if (action.kind === 'resolve') await resolve(action, deps);
  else if (action.kind === 'terminate') await terminate(action, deps);
  else await ask(action, pod, deps);
}

/**
 * Looks for the pod of a paid call whose answer is lost. The listing finds one that was bought; only where the provider says
 * so, and only once the call is over, does its silence mean that none was. A call that takes long is not over: the machine
 * may have slept, or its clock been set.
 */
async function resolve(action: ResolveAction, deps: PodActionDeps): Promise<void> {
  deps.listings.want(deps.nowMs());
  const pod = deps.fleet.registry.get(action.podKey);
  const isOver = pod?.state === 'renting' && pod.answer === 'ambiguous' && !deps.calls.has(pod.key);
  if (!isOver || !deps.provider.listingProvesAbsence) return;
  const entries = await deps.provider.list();
  if (entries.some(({ name, mark }) => name === action.name || mark?.podKey === action.podKey)) return;
  deps.logger.warn({ name: action.name }, 'pod_was_never_bought');
  await deps.fleet.report(action.podKey, { kind: 'not-sent' }, 'durable');
  deps.requestPass();
}

async function ask(action: ProbeAction, pod: Pod, deps: PodActionDeps): Promise<void> {
  const answer = await answerOf(action, pod, deps);
  const endedAtMs = deps.nowMs();
  const purpose = action.kind === 'trial' ? 'trial' : action.purpose;
  const { outcome, detail } = answer;
  const told: ProbeResult = { purpose, askedAtMs: action.askedAtMs, endedAtMs, outcome };
  const result: ProbeResult = detail === undefined ? told : { ...told, detail };
  deps.facts.probes.set(pod.key, result);
  deps.metrics.probes.inc({ purpose, outcome: answer.outcome });
  if (answer.health !== null) deps.health.set(pod.key, { health: answer.health, atMs: endedAtMs });
  deps.logger.debug({ pod: pod.id, purpose, outcome: answer.outcome }, 'probe_done');
  deps.requestPass();
}

async function answerOf(action: ProbeAction, pod: Pod, deps: PodActionDeps): Promise<ProbeAnswer> {
  const token = deps.tokenOf(pod);
  if (token === null || pod.url === null) return { outcome: 'unproven', health: null };
  const target = { url: pod.url, token };
  if (action.kind === 'trial') {
    return deps.prober.trial({ ...target, model: trialModelOf(pod, deps.cluster) }, action.timeoutMs);
  }
  const lane = action.purpose === 'boot' ? 'boot' : 'control';
  return deps.prober.probe(target, { timeoutMs: action.timeoutMs, lane });
}

/** What a stock pod's server calls its model, whatever else leads to it; null: a gateway, or its pool is gone. */
function trialModelOf({ pool: name }: Pod, { config }: ClusterFile): string | null {
  const pool = config.pools.find((one) => one.name === name);
  if (pool === undefined || !isProfileName(pool.engine) || !isStock(pool)) return null;
  return ENGINE_PROFILES[pool.engine].servedName;
}

async function terminate(action: TerminateAction, deps: PodActionDeps): Promise<void> {
  const inCharge = await deps.guard.check();
  // Without NATS hard limits still act (DESIGN 3); whatever else ends a pod can wait until somebody is in charge.
  const mayActAlone = action.why === 'stopping' || action.why === 'over-budget';
  if (inCharge === 'deposed' || (inCharge === 'unknown' && !mayActAlone)) {
    deps.logger.warn({ pod: action.id, inCharge }, 'terminate_withheld');
    return;
  }
  const askedAtMs = deps.nowMs();
  try {
    const answer = await deps.provider.terminate(action.id);
    deps.facts.providerAnsweredMs = deps.nowMs();
    if (answer !== 'absent') await noteAccepted(action, askedAtMs, deps);
    deps.metrics.terminates.inc({ outcome: 'asked' });
    deps.logger.info({ pod: action.id, why: action.why, reason: action.reason }, 'pod_terminate_asked');
  } catch (err) {
    deps.metrics.terminates.inc({ outcome: 'failed' });
    deps.logger.warn({ err, pod: action.id }, 'pod_terminate_failed');
  }
  deps.listings.want(deps.nowMs());
  deps.requestPass();
}

/** The provider knew the pod. One that no listing has shown needs not wait for that to be gone. */
async function noteAccepted(action: TerminateAction, askedAtMs: number, deps: PodActionDeps): Promise<void> {
  const { fleet } = deps;
  if (isFirstAsk(action, deps)) await fleet.ended(action.podKey, askedAtMs);
  if (fleet.registry.get(action.podKey)?.shownAtMs !== null) return;
  await fleet.report(action.podKey, { kind: 'end-accepted', atMs: deps.nowMs() }, 'lazy');
}

/** After one whose answer was lost, this one may have found nothing to end, and says nothing of how long the pod lived. */
function isFirstAsk({ podKey }: TerminateAction, { fleet }: PodActionDeps): boolean {
  const pod = fleet.registry.get(podKey);
  return pod?.state === 'terminating' && pod.asks === 1;
}
