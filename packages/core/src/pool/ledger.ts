import { type CompleteListing, lists } from './listing.ts';
import type { Pod } from './pod-state.ts';
import type { Registry } from './world.ts';

const MS_PER_HOUR = 3_600_000;

/** One pod at one price. `countedUntilMs` only ever grows, and so does what it comes to (L12). */
export interface LedgerLine {
  readonly podKey: string;
  readonly pool: string;
  readonly usdPerHour: number;
  readonly fromMs: number;
  readonly countedUntilMs: number;
  /** the last listing that showed the pod; what is counted beyond is open until the provider's bill */
  readonly shownUntilMs: number;
  /** `leaving`: we asked to end it, so only a listing that still shows it counts further */
  readonly state: 'open' | 'leaving' | 'closed';
}

export type Ledger = readonly LedgerLine[];

/**
 * Brings the ledger up to now. A pod costs from its creation once it has an id, also an adopted one; a new price starts a
 * new line. A pod that we ended is counted up to the ask, or the last listing that still showed it; one that vanished up
 * to the moment it was given up.
 */
export function recordLedger(
  ledger: Ledger,
  registry: Registry,
  newest: CompleteListing | null,
  nowMs: number,
): Ledger {
  const lines = ledger.map((line) =>
    line.state === 'closed' ? line : extend(line, registry.get(line.podKey), newest, nowMs),
  );
  const open = new Set(lines.filter((line) => line.state !== 'closed').map((line) => line.podKey));
  for (const pod of registry.values()) {
    if (open.has(pod.key) || !isBilled(pod)) continue;
    const before = lines.filter((line) => line.podKey === pod.key).map((line) => line.countedUntilMs);
    const fromMs = Math.max(pod.createdAtMs, ...before);
    const line = {
      podKey: pod.key,
      pool: pod.pool,
      usdPerHour: pod.priceUsdPerHour,
      fromMs,
      countedUntilMs: fromMs,
    };
    lines.push(extend({ ...line, shownUntilMs: fromMs, state: 'open' }, pod, newest, nowMs));
  }
  return lines;
}

export function spentUsd(ledger: Ledger): number {
  return spentSinceUsd(ledger, 0);
}

/** What was spent from `fromMs` on, as far as it is counted. For a day, its first instant in the operator's time zone. */
export function spentSinceUsd(ledger: Ledger, fromMs: number): number {
  return ledger.reduce((usd, line) => {
    const ms = Math.max(0, line.countedUntilMs - Math.max(line.fromMs, fromMs));
    return usd + (ms / MS_PER_HOUR) * line.usdPerHour;
  }, 0);
}

function extend(
  line: LedgerLine,
  pod: Pod | undefined,
  newest: CompleteListing | null,
  nowMs: number,
): LedgerLine {
  const isShown = pod !== undefined && newest !== null && lists(newest, pod);
  const shownUntilMs = isShown ? Math.max(line.shownUntilMs, newest.startedAtMs) : line.shownUntilMs;
  const isLeaving = line.state === 'leaving' || pod?.state === 'terminating';
  const askedAtMs = pod?.state === 'terminating' ? pod.sinceMs : 0;
  const countedUntilMs = Math.max(line.countedUntilMs, isLeaving ? Math.max(askedAtMs, shownUntilMs) : nowMs);
  const isOver = pod === undefined || !isBilled(pod) || pod.priceUsdPerHour !== line.usdPerHour;
  return { ...line, shownUntilMs, countedUntilMs, state: isOver ? 'closed' : isLeaving ? 'leaving' : 'open' };
}

function isBilled(pod: Pod): pod is Pod & { priceUsdPerHour: number } {
  return pod.id !== null && pod.state !== 'terminated' && pod.priceUsdPerHour !== null;
}
