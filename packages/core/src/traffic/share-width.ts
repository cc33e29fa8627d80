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
  width: number;
}

/**
 * How much of a pool's width each worker gets: min(demand, even share); the rest in turn, one slot each, to those that
 * still want; what nobody needs evens out the totals, so that a worker without work can start at once.
 */
export function shareWidth(total: number, claims: readonly WidthClaim[]): Map<string, number> {
  const open = claims.filter((claim) => claim.takesNew || claim.demand > 0);
  const each = Math.floor(total / Math.max(1, open.length));
  const shares = open
    .toSorted((a, b) => compareForOddSlot(a, b, each))
    .map((claim): Share => ({ claim, width: Math.min(claim.demand, each) }));
  const left = total - shares.reduce((sum, share) => sum + share.width, 0);
  spreadSurplus(lend(left, shares, each), shares);
  return new Map(shares.map((share) => [share.claim.bootId, share.width]));
}

/** Returns what is left when nobody wants any more. All who are hungry have the same: `each` at first, one more after every turn. */
function lend(width: number, shares: readonly Share[], each: number): number {
  let left = width;
  let hungry = shares;
  for (let level = each; left > 0; level += 1) {
    hungry = hungry.filter((share) => share.width < share.claim.demand);
    if (hungry.length === 0) break;
    const served =
      left >= hungry.length
        ? hungry
        : hungry.toSorted((a, b) => compareForOddSlot(a.claim, b.claim, level)).slice(0, left);
    for (const share of served) share.width += 1;
    left -= served.length;
  }
  return left;
}

/**
 * Who comes first when there are fewer slots than claims with `level` each. With less than a slot for each, the slot goes
 * round: first to who has no page running, and stays with its holder until a page runs in it. Otherwise the odd slot stays
 * where it is.
 */
function compareForOddSlot(a: WidthClaim, b: WidthClaim, level: number): number {
  return (
    Number(b.demand > level) - Number(a.demand > level) ||
    (level === 0 ? Number(a.inflight > 0) - Number(b.inflight > 0) : 0) ||
    (level === 0 ? Number(b.current > 0) - Number(a.current > 0) : b.current - a.current) ||
    b.oldestWaitMs - a.oldestWaitMs ||
    (a.bootId < b.bootId ? -1 : 1)
  );
}

/** The lowest total first; of equals the first of `shares`, so the odd slot stays where it is. */
function spreadSurplus(width: number, shares: readonly Share[]): void {
  const open = shares.filter((share) => share.claim.takesNew);
  if (open.length === 0) return;
  for (let left = width; left > 0; left -= 1) {
    const lowest = open.reduce((low, share) => (share.width < low.width ? share : low));
    lowest.width += 1;
  }
}
