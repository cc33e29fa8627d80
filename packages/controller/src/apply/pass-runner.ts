import type { ClusterFile } from '@pagefleet/contract';
import type { MintIdentity, Plan, Pod, Registry } from '@pagefleet/core';
import type { Provider } from '@pagefleet/providers';
import { type ClusterSecret, type Logger, monotonicMs } from '@pagefleet/runtime';
import type { EpochGuard } from '../epoch-guard.ts';
import type { AppliedPlan, Fleet } from '../fleet.ts';
import type { RenterMetrics } from '../metrics.ts';
import type { ListingKeeper } from '../observe/listing-keeper.ts';
import type { PodProber } from '../observe/pod-prober.ts';
import type { PodTokens } from '../pod-tokens.ts';
import type { PassNotes } from '../status/pass-notes.ts';
import type { Facts } from '../world.ts';
import { actOnPod } from './act-on-pods.ts';
import { openIntent, rentPod } from './rent-pod.ts';

interface RunnerDeps {
  readonly cluster: ClusterFile;
  readonly secret: ClusterSecret;
  readonly provider: Provider;
  readonly fleet: Fleet;
  readonly facts: Facts;
  readonly notes: PassNotes;
  readonly tokens: PodTokens;
  readonly prober: PodProber;
  readonly guard: EpochGuard;
  readonly listings: ListingKeeper;
  readonly calls: Set<string>;
  readonly metrics: RenterMetrics;
  readonly logger: Logger;
  readonly nowMs: () => number;
  /** on the world as it is now */
  readonly decide: () => Plan;
  readonly mint: MintIdentity;
  readonly requestPass: () => void;
}

const LEDGER_DAMAGED =
  'lines of the ledger were lost on disk: what today has cost is not known, and nothing is rented before tomorrow';

/** Decides on the world as it is and sets in motion what was decided; nothing of it holds up the pass. */
export async function runPass(deps: RunnerDeps): Promise<{ wakeAtMs: number }> {
  const startedMs = monotonicMs();
  const { secret, nowMs, tokens, mint } = deps;
  const applied = await deps.fleet.pass({
    decide: deps.decide,
    openIntent: (action) => openIntent(action, { mint, secret, nowMs: nowMs() }),
    keyRefOf: tokens.keyRefOf,
    newest: () => deps.facts.listing.newest,
  });
  deps.metrics.passSeconds.observe((monotonicMs() - startedMs) / 1_000);
  follow(applied, deps);
  return { wakeAtMs: applied.plan.wakeAtMs };
}

function follow({ plan, actions, intents }: AppliedPlan, deps: RunnerDeps): void {
  const { fleet, facts, notes, listings, tokens, nowMs } = deps;
  notes.take(plan, fleet.canStore);
  const isUnknown = !deps.provider.free && fleet.money.spentTodayUsd(plan.nowMs) === null;
  notes.alarms.set('ledger', isUnknown ? [LEDGER_DAMAGED] : [], plan.nowMs);
  for (const podKey of plan.forget) facts.probes.delete(podKey);
  listings.want(plan.listingDueMs);
  if (isAnyMoving(fleet.registry.pods, deps)) listings.want(nowMs() + listings.gapMs);
  const acting = { ...deps, health: notes.health, tokenOf: (pod: Pod) => tokens.tokenOf(pod) };
  for (const intent of intents) start(`rent ${intent.pod.name}`, rentPod(intent, acting), deps.logger);
  for (const action of actions) {
    start(`${action.kind} ${action.podKey}`, actOnPod(action, plan.nowMs, acting), deps.logger);
  }
}

/** An action that throws is a fault of ours and ends nothing else. */
function start(name: string, work: Promise<void>, logger: Logger): void {
  work.catch((err: unknown) => logger.error({ err, action: name }, 'action_failed'));
}

/** While a pod boots or ends, one listing every now and then watches all of them. */
function isAnyMoving(pods: Registry, { provider }: RunnerDeps): boolean {
  // Where a listing costs nothing, it also tells at once that a pod set aside is gone.
  const moving = ['renting', 'booting', 'terminating', ...(provider.free ? ['quarantined'] : [])];
  return [...pods.values()].some((pod) => moving.includes(pod.state));
}
