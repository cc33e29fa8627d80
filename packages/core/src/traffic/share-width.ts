/** What one worker asks of one pool. */
export interface WidthClaim {
  readonly bootId: string;
  /** it listens, so it also gets width for pages that have not come yet; without it only what its own pages need */
  readonly takesNew: boolean;
  /** pages in flight, waiting, and known but not yet split */
  readonly demand: number;
  readonly inflight: number;
  readonly oldestWaitMs: number;
  /** width it has now */
  readonly current: number;
}

interface Share {
  readonly claim: WidthClaim;
  /** an even part of the total, the odd ones already placed */
  readonly even: number;
  width: number;
}

/**
 * How much of a pool's width each worker gets: min(demand, even share); the rest to those that wait, longest wait first,
 * one slot each in turn; what nobody needs evens out the totals, so that a worker without work can start at once.
 */
export function shareWidth(total: number, claims: readonly WidthClaim[]): Map<string, number> {
  const shares = evenShares(
    total,
    claims.filter((claim) => claim.takesNew || claim.demand > 0),
  );
  for (const share of shares) share.width = Math.min(share.claim.demand, share.even);
  const left = total - shares.reduce((sum, share) => sum + share.width, 0);
  spreadSurplus(lend(left, shares), shares);
  return new Map(shares.map((share) => [share.claim.bootId, share.width]));
}

function evenShares(total: number, claims: readonly WidthClaim[]): Share[] {
  const each = Math.floor(total / Math.max(1, claims.length));
  const odd = total - each * claims.length;
  const inOrder = claims.toSorted((a, b) => compareForOddSlot(a, b, each));
  return inOrder.map((claim, index) => ({ claim, even: index < odd ? each + 1 : each, width: 0 }));
}

/**
 * With less than a slot for each, the slot goes round: first to who has no page running, and stays with its holder until
 * a page runs in it. Otherwise the odd slot stays where it is.
 */
function compareForOddSlot(a: WidthClaim, b: WidthClaim, each: number): number {
  return (
    Number(b.demand > each) - Number(a.demand > each) ||
    (each === 0 ? Number(a.inflight > 0) - Number(b.inflight > 0) : 0) ||
    (each === 0 ? Number(b.current > 0) - Number(a.current > 0) : b.current - a.current) ||
    compareWait(a, b)
  );
}

function compareWait(a: WidthClaim, b: WidthClaim): number {
  return b.oldestWaitMs - a.oldestWaitMs || (a.bootId < b.bootId ? -1 : 1);
}

/** Returns what is left when nobody waits any more. */
function lend(width: number, shares: readonly Share[]): number {
  let left = width;
  let hungry = shares.toSorted((a, b) => compareWait(a.claim, b.claim));
  while (left > 0) {
    hungry = hungry.filter((share) => share.width < share.claim.demand);
    if (hungry.length === 0) break;
    for (const share of hungry.slice(0, left)) share.width += 1;
    left -= Math.min(left, hungry.length);
  }
  return left;
}

/** The lowest total first; of equals the one that comes first in the even shares, so the odd slot stays where it is. */
function spreadSurplus(width: number, shares: readonly Share[]): void {
  const open = shares.filter((share) => share.claim.takesNew);
  if (open.length === 0) return;
  for (let left = width; left > 0; left -= 1) {
    const lowest = open.reduce((low, share) => (share.width < low.width ? share : low));
    lowest.width += 1;
  }
}
