import { randomBytes, randomUUID } from 'node:crypto';
import type { ClusterFile, Pool } from '@pagefleet/contract';
import { type MintIdentity, openPod, type RentAction } from '@pagefleet/core';
import type { Provider, RentOutcome, RentRequest } from '@pagefleet/providers';
import { type ClusterSecret, type Logger, podToken } from '@pagefleet/runtime';
import type { EpochGuard } from '../epoch-guard.ts';
import type { Fleet, RentIntent } from '../fleet.ts';
import type { RenterMetrics } from '../metrics.ts';
import type { ListingKeeper } from '../observe/listing-keeper.ts';
import type { Facts } from '../world.ts';
import { ACTION_MAX_AGE_MS } from './act-on-pods.ts';
import { machineOf, placeOf } from './machine-of.ts';
import { engineSettingsOf } from './told-settings.ts';

export interface RentDeps {
  readonly cluster: ClusterFile;
  readonly secret: ClusterSecret;
  readonly fleet: Fleet;
  readonly facts: Facts;
  readonly provider: Provider;
  readonly listings: ListingKeeper;
  /** keys of the paid calls that this process has under way */
  readonly calls: Set<string>;
  readonly guard: EpochGuard;
  readonly metrics: RenterMetrics;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly requestPass: () => void;
}

/** Key and name of an attempt are new every time, so that a lost answer can be found by its name. */
export function mintIdentity(cluster: string): MintIdentity {
  return (pool) => ({
    key: randomBytes(16).toString('hex'),
    name: `${cluster}-${pool}-${randomUUID().slice(0, 8)}`,
  });
}

export function openIntent(
  action: RentAction,
  owner: { mint: MintIdentity; secret: ClusterSecret; nowMs: number },
): RentIntent {
  return {
    pod: openPod(action, owner.mint(action.pool), owner.nowMs),
    keyRef: { keyId: owner.secret.current, spot: action.offer?.spot ?? false },
    offer: action.offer,
  };
}

/** The paid call of an intent that is on disk. Its outcome is true whatever has happened since. */
export async function rentPod(intent: RentIntent, deps: RentDeps): Promise<void> {
  const { fleet, guard, nowMs } = deps;
  const { key, sinceMs } = intent.pod;
  const inCharge = await guard.check();
  if (inCharge !== 'mine' || nowMs() - sinceMs > ACTION_MAX_AGE_MS) {
    return withhold(intent, { inCharge }, deps);
  }
  // A controller that dies before this line is on disk has bought nothing, and its successor knows. The disk may have
  // been slow, so the epoch is asked for once more.
  const begun = await fleet.report(key, { kind: 'calling' }, 'durable');
  const isOnDisk = begun.kind === 'changed' && fleet.canStore;
  if (!isOnDisk || (await guard.check()) !== 'mine') {
    return withhold(intent, { begun: begun.kind, isOnDisk }, deps);
  }
  deps.calls.add(key);
  const outcome = await callProvider(intent, deps).finally(() => deps.calls.delete(key));
  deps.metrics.rents.inc({ outcome: outcome.kind });
  if (outcome.kind !== 'ambiguous') deps.facts.providerAnsweredMs = nowMs();
  await recordOutcome(intent, outcome, deps);
  deps.listings.want(nowMs());
  deps.requestPass();
}

async function withhold({ pod }: RentIntent, why: object, { fleet, logger }: RentDeps): Promise<void> {
  logger.warn({ name: pod.name, pool: pod.pool, ...why }, 'rent_withheld');
  await fleet.report(pod.key, { kind: 'not-sent' }, 'lazy');
}

async function callProvider(intent: RentIntent, deps: RentDeps): Promise<RentOutcome> {
  const pool = deps.cluster.config.pools.find((one) => one.name === intent.pod.pool);
  if (pool === undefined) return { kind: 'refused', fault: 'request', reason: 'the pool is not configured' };
  try {
    return await deps.provider.rent(rentRequestOf(intent, pool, deps));
  } catch (cause) {
    // A fault in the provider's code says nothing about whether money was spent.
    return { kind: 'ambiguous', cause };
  }
}

async function recordOutcome(intent: RentIntent, outcome: RentOutcome, deps: RentDeps): Promise<void> {
  const { key, name, pool } = intent.pod;
  if (outcome.kind === 'rented') {
    const { id, url, priceUsdPerHour, createdAtMs } = outcome.pod;
    deps.logger.info({ pod: id, name, pool, priceUsdPerHour }, 'pod_rented');
    await deps.fleet.report(key, { kind: 'created', id, url, priceUsdPerHour, createdAtMs }, 'durable');
  } else if (outcome.kind === 'refused') {
    const { fault, reason } = outcome;
    deps.logger.warn({ name, pool, fault, reason }, 'pod_refused');
    await deps.fleet.report(key, { kind: 'create-refused', fault }, 'lazy');
  } else {
    deps.logger.error({ err: outcome.cause, name, pool }, 'pod_rent_ambiguous');
    await deps.fleet.report(key, { kind: 'answer-lost' }, 'durable');
  }
}

/** Everything a pod is told. */
function rentRequestOf(intent: RentIntent, pool: Pool, deps: RentDeps): RentRequest {
  const { cluster, secret } = deps;
  const { config } = cluster;
  const { key, name, width, configHash } = intent.pod;
  const { keyId, spot } = intent.keyRef;
  return {
    mark: {
      clusterId: cluster.clusterId,
      podKey: key,
      keyId,
      pool: pool.name,
      name,
      width,
      configHash,
      spot,
    },
    settings: {
      token: podToken(secret, keyId, key),
      port: 0,
      ...placeOf(pool, config),
      deadManMs: pool.deadManMs,
      ...engineSettingsOf(pool, config, intent.offer?.memoryGb ?? null),
      stallMs: config.watchdog.stallMs,
      fatalStallMs: config.watchdog.fatalMs,
      logLevel: config.logLevel,
    },
    machine: intent.offer === null ? null : machineOf(intent.offer, pool, intent.pod.createdAtMs),
  };
}
