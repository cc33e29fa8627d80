import { type Static, Type } from 'typebox';

/**
 * What travels over NATS. Every message is a full snapshot; `v` is the schema version. Unknown fields are tolerated on
 * reading so that neighbouring versions can talk during a rolling replacement.
 */
const Count = Type.Integer({ minimum: 0 });
const EpochMs = Type.Integer({ minimum: 0, description: 'milliseconds since 1970, the sender’s clock' });

/** A pod as a worker sees it: everything it needs to send a page, handed out together. */
export const SlicePod = Type.Object({
  id: Type.String(),
  pool: Type.String(),
  url: Type.String({ description: 'http://host:port, without a path' }),
  token: Type.String({ description: 'the bearer token this pod was launched with (R-037)' }),
  width: Type.Integer({ minimum: 0, description: 'pages this worker may have in flight on the pod now' }),
  mode: Type.Union([Type.Literal('serve'), Type.Literal('drain')]),
  answeredSuspect: Type.Integer({
    minimum: 0,
    description:
      'suspicions of this worker about this pod up to this number have been answered: the pod serves again',
  }),
});
export type SlicePod = Static<typeof SlicePod>;

/** One worker's share of every per-process ceiling: the total divided by N, rounded up. */
export const WorkerLimits = Type.Object({
  maxInFlight: Count,
  maxQueued: Count,
  maxMemoryBytes: Count,
  maxSpoolBytes: Count,
});
export type WorkerLimits = Static<typeof WorkerLimits>;

/** A pool as a worker must know it, also when it has no pod now. */
export const SlicePool = Type.Object({
  name: Type.String(),
  models: Type.Array(Type.String(), { description: 'names a client may ask for' }),
  suspendedUntilMs: Type.Integer({
    minimum: 0,
    description: 'takes no pages until then (R-021); 0 = takes pages',
  }),
  /** names of API keys whose lease says `require: fleet`: no fallback reads for them; absent = none */
  fleetOnly: Type.Optional(Type.Array(Type.String())),
  /** its pods that serve, whoever holds their width: a worker without any may get some in a moment; absent = not known */
  servingPods: Type.Optional(Count),
});
export type SlicePool = Static<typeof SlicePool>;

/** KV bucket `slices`, key = worker incarnation. `(epoch, rev)` orders slices; a lower one is ignored. */
export const Slice = Type.Object({
  v: Type.Literal(1),
  bootId: Type.String(),
  epoch: Count,
  rev: Count,
  pods: Type.Array(SlicePod),
  pools: Type.Array(SlicePool),
  limits: WorkerLimits,
  /** pods this worker still speaks of that are proven gone: no reading of theirs runs any more; absent = none */
  gone: Type.Optional(Type.Array(Type.String())),
  /** `down` was asked for: take no new page (503 `stopping`), finish those that are in; absent = no */
  closing: Type.Optional(Type.Boolean()),
});
export type Slice = Static<typeof Slice>;

export const Suspicion = Type.Object({
  /** counts up per worker and pod, so that a slice can say which suspicions it answers */
  n: Type.Integer({ minimum: 1 }),
  kind: Type.Union([Type.Literal('unreachable'), Type.Literal('refusing')]),
  code: Type.String({ description: 'error code of the failure that raised it' }),
  atMs: EpochMs,
  document: Type.Optional(
    Type.String({
      description:
        'document of the refused page: half of a pool refusing one document is the document’s fault (R-021)',
    }),
  ),
});
export type Suspicion = Static<typeof Suspicion>;

export const ReportPod = Type.Object({
  inflight: Count,
  used: Type.Integer({
    minimum: 0,
    description: 'pages finished on this pod by this incarnation, good or bad',
  }),
  good: Type.Integer({ minimum: 0, description: 'of those, pages that were read' }),
  lastGoodMs: Type.Integer({ minimum: 0, description: 'when a page last finished well here; 0 = never' }),
  oldestSlotMs: Type.Integer({ minimum: 0, description: 'age of the oldest slot; 0 = no slot' }),
  pagesPerSecond: Type.Number({ minimum: 0, description: 'finished ÷ wall time, over the last minute' }),
  suspect: Type.Optional(Suspicion),
});
export type ReportPod = Static<typeof ReportPod>;

/** Work offered to one pool. Their sum is demand (DESIGN 5, Scaling). */
export const PoolDemand = Type.Object({
  inflight: Count,
  waiting: Type.Integer({ minimum: 0, description: 'pages in the queue' }),
  unsplit: Type.Integer({ minimum: 0, description: 'pages known but not yet split off' }),
  refused: Type.Integer({ minimum: 0, description: 'distinct pages refused with 429 in the last minute' }),
  oldestWaitMs: Count,
});
export type PoolDemand = Static<typeof PoolDemand>;

/** Subject `report.<bootId>`, every 500 ms and at once on a new slice, a suspicion or the first waiting page. */
export const Report = Type.Object({
  v: Type.Literal(1),
  bootId: Type.String(),
  worker: Type.Integer({ minimum: -1, description: 'worker number; -1 = the controller’s forwarding child' }),
  epoch: Type.Integer({ minimum: 0, description: 'highest epoch seen' }),
  ack: Type.Integer({ minimum: 0, description: 'rev of the slice in force, of that epoch; 0 = none yet' }),
  seq: Type.Integer({ minimum: 0, description: 'counts up; an older report never replaces a newer one' }),
  atMs: EpochMs,
  held: Type.Record(Type.String(), Count, { description: 'pod id → width in force' }),
  pods: Type.Record(Type.String(), ReportPod),
  pools: Type.Record(Type.String(), PoolDemand),
  totals: Type.Object({
    pagesOk: Count,
    pagesFailed: Count,
    pagesRefused: Count,
    pagesRetried: Count,
    bytesInMemory: Count,
    bytesSpooled: Count,
    loopDelayP99Ms: Type.Number({ minimum: 0 }),
    rssBytes: Count,
  }),
});
export type Report = Static<typeof Report>;

export const RosterWorker = Type.Object({
  bootId: Type.String(),
  worker: Type.Integer({ minimum: -1 }),
  pid: Type.Integer({ minimum: 1 }),
  port: Type.Integer({ minimum: 1, maximum: 65535 }),
  /** `orphan`: outlived its primary, finishes its pages; `exited` is proof that it sends nothing any more */
  state: Type.Union([
    Type.Literal('starting'),
    Type.Literal('listening'),
    Type.Literal('leaving'),
    Type.Literal('orphan'),
    Type.Literal('exited'),
  ]),
  sinceMs: EpochMs,
});
export type RosterWorker = Static<typeof RosterWorker>;

/**
 * Subject `roster.<group>`, on every change and every 500 ms. `group` is `workers` (the cluster primary) or `backup` (the
 * controller's forwarding child). Exited workers stay listed for 10 minutes.
 */
export const Roster = Type.Object({
  v: Type.Literal(1),
  group: Type.String(),
  primaryId: Type.String({ description: 'incarnation of the publisher' }),
  seq: Count,
  atMs: EpochMs,
  workers: Type.Array(RosterWorker),
});
export type Roster = Static<typeof Roster>;

/** KV bucket `control`, key `epoch`: raised by compare-and-set by each controller that takes over. */
export const EpochRecord = Type.Object({
  v: Type.Literal(1),
  epoch: Count,
  controllerId: Type.String(),
  atMs: EpochMs,
});
export type EpochRecord = Static<typeof EpochRecord>;
