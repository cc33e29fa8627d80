const SECONDS = 60;

/** Events per second over the last minute: finished ÷ wall time. */
export interface RateWindow {
  add(nowMs: number): void;
  perSecond(nowMs: number): number;
}

export function createRateWindow(startedMs: number): RateWindow {
  const counts = new Array<number>(SECONDS).fill(0);
  let second = Math.floor(startedMs / 1_000);

  function advance(nowMs: number): void {
    const now = Math.floor(nowMs / 1_000);
    for (let s = Math.max(second + 1, now - SECONDS + 1); s <= now; s += 1) counts[s % SECONDS] = 0;
    second = Math.max(second, now);
  }

  return {
    add(nowMs) {
      advance(nowMs);
      counts[second % SECONDS] = (counts[second % SECONDS] ?? 0) + 1;
    },
    perSecond(nowMs) {
      advance(nowMs);
      const seconds = Math.min(SECONDS, Math.max(1, (nowMs - startedMs) / 1_000));
      return counts.reduce((sum, count) => sum + count, 0) / seconds;
    },
  };
}
