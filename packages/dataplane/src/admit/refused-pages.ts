/** Pages refused longer ago than this are no demand any more. */
const WINDOW_MS = 60_000;
/** `Retry-After` is never shorter than a second, less its spread: what comes back sooner is another page. */
const LEAST_RETURN_MS = 800;
const MAX_PAGES = 20_000;

/**
 * Distinct pages refused in the last minute: demand that did not get in. A retry of the same page counts once. A page is
 * known only by its headers, so equal ones that come at the same time are several pages, and one that comes after a pause
 * is the return of the oldest of them.
 */
export interface RefusedPages {
  refuse(fingerprint: string, nowMs: number): void;
  /** A page that was refused before has got in. */
  admit(fingerprint: string, nowMs: number): void;
  count(nowMs: number): number;
}

export function createRefusedPages(): RefusedPages {
  /** times of the last refusals of one fingerprint, oldest first */
  const byFingerprint = new Map<string, number[]>();
  let total = 0;

  function takeReturned(fingerprint: string, nowMs: number): boolean {
    const times = byFingerprint.get(fingerprint);
    if (!times || (times[0] ?? nowMs) > nowMs - LEAST_RETURN_MS) return false;
    times.shift();
    total -= 1;
    if (times.length === 0) byFingerprint.delete(fingerprint);
    return true;
  }

  function prune(nowMs: number): void {
    for (const [fingerprint, times] of byFingerprint) {
      while (times.length > 0 && (times[0] ?? 0) <= nowMs - WINDOW_MS) {
        times.shift();
        total -= 1;
      }
      if (times.length === 0) byFingerprint.delete(fingerprint);
    }
  }

  return {
    refuse(fingerprint, nowMs) {
      takeReturned(fingerprint, nowMs);
      if (total >= MAX_PAGES) return;
      const times = byFingerprint.get(fingerprint);
      if (times) times.push(nowMs);
      else byFingerprint.set(fingerprint, [nowMs]);
      total += 1;
    },
    admit: takeReturned,
    count(nowMs) {
      prune(nowMs);
      return total;
    },
  };
}
