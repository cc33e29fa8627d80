import type { Day } from './calendar.ts';
import { finish, type LedgerEdit, openEdit, post } from './ledger-edit.ts';
import { type CompleteListing, isSamePod } from './listing.ts';
import type { Pod } from './pod-state.ts';
import type { Registry } from './world.ts';

const MS_PER_HOUR = 3_600_000;

/** For whom a pod was kept; both empty = for nobody's lease. */
export interface Payer {
  readonly lease: string;
  /** name of the API key */
  readonly owner: string;
}

/**
 * One pod, while it bills and until its bill is settled. Counted is what is proven: up to the start of the last listing
 * that showed the pod and not as stopped, or of the call that ended it. What lies beyond is open. So what is counted only ever grows (L12),
 * and a bill can only add to it.
 */
export interface LedgerLine {
  readonly podId: string;
  readonly pool: string;
  /** its creation */
  readonly bornAtMs: number;
  /** in millionths of a dollar, as all sums here: whole numbers, so that nothing is lost by adding */
  readonly microUsdPerHour: number;
  /** since when at this price */
  readonly pricedFromMs: number;
  /** what it came to at earlier prices */
  readonly baseMicroUsd: number;
  readonly countedUntilMs: number;
  /** end of its boot; null = it boots */
  readonly bootUntilMs: number | null;
  /** end of the first listing that lacked it, or showed it as stopped, after one had shown it; null = none */
  readonly absentAtMs: number | null;
  readonly correctedMicroUsd: number;
  /** null = it bills; else since when it is known to be gone, and waits for its bill */
  readonly closed: Closed | null;
}

interface Closed {
  readonly atMs: number;
  /** the pod cannot have billed beyond */
  readonly openUntilMs: number;
  /** what the provider's records came to when they were last read; null = not read yet */
  readonly billedMicroUsd: number | null;
}

/** What was counted on one day of the operator's zone. */
export interface LedgerTotal {
  /** `2026-03-29`; empty = all days before those that are kept */
  readonly day: string;
  readonly pool: string;
  readonly lease: string;
  readonly owner: string;
  readonly servingMicroUsd: number;
  readonly bootingMicroUsd: number;
  readonly correctedMicroUsd: number;
}

/** A line of its own: what the provider's records say beyond what was counted. Never negative. */
export interface Correction {
  readonly podId: string;
  readonly pool: string;
  readonly day: string;
  readonly atMs: number;
  readonly microUsd: number;
}

export interface Ledger {
  /** by the provider's id of the pod */
  readonly lines: ReadonlyMap<string, LedgerLine>;
  readonly totals: ReadonlyMap<string, LedgerTotal>;
  /** the newest ones, oldest first; all of them are in the totals */
  readonly corrections: readonly Correction[];
  /** a day of which lines were lost on disk, so that its sum is not known; null = none */
  readonly damagedDay: string | null;
}

export const EMPTY_LEDGER: Ledger = {
  lines: new Map(),
  totals: new Map(),
  corrections: [],
  damagedDay: null,
};

export interface LedgerFacts {
  readonly nowMs: number;
  readonly registry: Registry;
  readonly newest: CompleteListing | null;
  /** the day of the operator's zone that an instant belongs to */
  readonly dayAt: (atMs: number) => Day;
  readonly payerOf: (pod: Pod) => Payer;
}

/**
 * Brings the ledger up to what is known now; the same object when that is nothing new. A pod costs from its creation, once
 * it has an id and a price, also an adopted one. One that left the registry waits for its bill, and goes on if it is back.
 */
export function recordLedger(ledger: Ledger, facts: LedgerFacts): Ledger {
  const edit = openEdit(ledger, facts.dayAt);
  const held = new Map<string, BilledPod>();
  for (const pod of facts.registry.values()) if (isBilled(pod)) held.set(pod.id, pod);
  for (const [id, pod] of held)
    record(edit, follow(ledger.lines.get(id) ?? newLine(pod), pod), { pod, facts });
  for (const line of ledger.lines.values())
    if (line.closed === null && !held.has(line.podId)) edit.lines.set(line.podId, close(line, facts.nowMs));
  return finish(edit, ledger);
}

/**
 * We ended a pod by a call that began at `askedAtMs` and was accepted: it billed until then, unless a listing has lacked it
 * already, or shown it as stopped. To be told of a pod's first such call only: after a lost answer, listings alone say how long it lived.
 */
export function endedInLedger(
  ledger: Ledger,
  end: { podId: string; askedAtMs: number; payer: Payer; dayAt: (atMs: number) => Day },
): Ledger {
  const line = ledger.lines.get(end.podId);
  if (line === undefined || line.closed !== null || line.absentAtMs !== null) return ledger;
  const edit = openEdit(ledger, end.dayAt);
  edit.lines.set(line.podId, countUntil(edit, line, { untilMs: end.askedAtMs, payer: end.payer }));
  return finish(edit, ledger);
}

/** What a line comes to, without corrections. */
export function countedMicroUsd(line: LedgerLine, untilMs = line.countedUntilMs): number {
  const ms = Math.max(0, untilMs - line.pricedFromMs);
  return line.baseMicroUsd + Math.floor((line.microUsdPerHour * ms) / MS_PER_HOUR);
}

export function microUsd(usd: number): number {
  return Math.round(usd * 1e6);
}

type BilledPod = Exclude<Pod, { state: 'renting' | 'terminated' }> & { readonly priceUsdPerHour: number };

function isBilled(pod: Pod): pod is BilledPod {
  const isThere = pod.state !== 'renting' && pod.state !== 'terminated';
  return isThere && microUsd(pod.priceUsdPerHour ?? 0) > 0;
}

function newLine(pod: BilledPod): LedgerLine {
  // How long an adopted pod took to boot is not known.
  const isOurs = pod.state !== 'booting' || pod.origin === 'rented';
  return {
    podId: pod.id,
    pool: pod.pool,
    bornAtMs: pod.createdAtMs,
    microUsdPerHour: microUsd(pod.priceUsdPerHour),
    pricedFromMs: pod.createdAtMs,
    baseMicroUsd: 0,
    countedUntilMs: pod.createdAtMs,
    bootUntilMs: pod.state === 'booting' && isOurs ? null : pod.createdAtMs,
    absentAtMs: null,
    correctedMicroUsd: 0,
    closed: null,
  };
}

/** The line of a pod that is held: its price as it is now, and the end of its boot. */
function follow(line: LedgerLine, pod: BilledPod): LedgerLine {
  const price = microUsd(pod.priceUsdPerHour);
  let next = line.closed === null ? line : { ...line, closed: null, absentAtMs: null };
  if (price !== next.microUsdPerHour) {
    const baseMicroUsd = countedMicroUsd(next);
    next = { ...next, microUsdPerHour: price, baseMicroUsd, pricedFromMs: next.countedUntilMs };
  }
  if (next.bootUntilMs === null && pod.state !== 'booting') {
    // What is ended while it boots has never been anything else.
    const bootUntilMs = pod.state === 'terminating' ? Number.MAX_SAFE_INTEGER : pod.sinceMs;
    next = { ...next, bootUntilMs };
  }
  return next;
}

function record(edit: LedgerEdit, line: LedgerLine, { pod, facts }: { pod: Pod; facts: LedgerFacts }): void {
  const { newest } = facts;
  const isNewLook = newest !== null && newest.startedAtMs > line.countedUntilMs;
  const entry = isNewLook ? newest.pods.find((one) => isSamePod(one, pod)) : undefined;
  let next = line;
  // A stopped pod is shown at its old price and no longer bills it; since when is its bill's to say.
  if (isNewLook && entry !== undefined && entry.status !== 'exited') {
    const payer = facts.payerOf(pod);
    next = { ...countUntil(edit, line, { untilMs: newest.startedAtMs, payer }), absentAtMs: null };
  } else if (isNewLook && pod.shownAtMs !== null && line.absentAtMs === null) {
    next = { ...line, absentAtMs: newest.endedAtMs };
  }
  edit.lines.set(next.podId, next);
}

function close(line: LedgerLine, nowMs: number): LedgerLine {
  const openUntilMs = Math.max(line.countedUntilMs, line.absentAtMs ?? nowMs);
  return { ...line, closed: { atMs: nowMs, openUntilMs, billedMicroUsd: null } };
}

/** Posts what a line comes to since it was last counted, cut where days change and where its boot ended. */
function countUntil(edit: LedgerEdit, line: LedgerLine, to: { untilMs: number; payer: Payer }): LedgerLine {
  let fromMs = line.countedUntilMs;
  while (fromMs < to.untilMs) {
    const day = edit.dayAt(fromMs);
    const bootUntilMs = line.bootUntilMs ?? Number.MAX_SAFE_INTEGER;
    const isBoot = fromMs < bootUntilMs;
    const untilMs = Math.min(to.untilMs, day.untilMs, isBoot ? bootUntilMs : Number.MAX_SAFE_INTEGER);
    const amount = countedMicroUsd(line, untilMs) - countedMicroUsd(line, fromMs);
    const part = isBoot ? 'bootingMicroUsd' : 'servingMicroUsd';
    post(edit.totals, { day: day.label, pool: line.pool, ...to.payer }, { [part]: amount });
    fromMs = untilMs;
  }
  return { ...line, countedUntilMs: Math.max(line.countedUntilMs, to.untilMs) };
}
