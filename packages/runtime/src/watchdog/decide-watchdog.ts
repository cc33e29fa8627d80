/** What the watchdog knows; changed only by `observeTick`. All times are milliseconds of one monotonic clock. */
export interface WatchdogState {
  readonly beat: number;
  /** when the loop last turned, moved forward by every gap in our own clock */
  readonly aliveAtMs: number;
  readonly tickAtMs: number;
  /** of the present silence */
  readonly reportedAtMs: number | null;
  readonly reportTimesMs: readonly number[];
  /** how much of the present silence we were not running ourselves */
  readonly starvedMs: number;
  readonly starvationReported: boolean;
}

export interface WatchdogLimits {
  readonly tickMs: number;
  readonly stallMs: number;
  readonly repeatMs: number;
  readonly fatalMs: number;
  readonly maxReportsPerHour: number;
}

export type WatchdogAction =
  | { readonly kind: 'none' }
  | { readonly kind: 'report'; readonly silentMs: number }
  /** this thread did not run either: the machine was suspended, the process stopped or given no processor */
  | { readonly kind: 'starved'; readonly starvedMs: number }
  | { readonly kind: 'recovered'; readonly silentMs: number }
  | { readonly kind: 'end'; readonly silentMs: number };

const HOUR_MS = 3_600_000;
const NONE = { kind: 'none' } as const;

export function initialWatchdog(nowMs: number, beat: number): WatchdogState {
  return {
    beat,
    aliveAtMs: nowMs,
    tickAtMs: nowMs,
    reportedAtMs: null,
    reportTimesMs: [],
    starvedMs: 0,
    starvationReported: false,
  };
}

/**
 * One tick. A gap between two ticks of ours that is longer than the tick itself is time in which nobody ran: it does not
 * count as silence of the loop.
 */
export function decideWatchdog(
  before: WatchdogState,
  seen: { nowMs: number; beat: number },
  limits: WatchdogLimits,
): { state: WatchdogState; action: WatchdogAction } {
  const { nowMs, beat } = seen;
  const gapMs = Math.max(0, nowMs - before.tickAtMs - 2 * limits.tickMs);
  if (beat !== before.beat) {
    const action: WatchdogAction =
      before.reportedAtMs === null ? NONE : { kind: 'recovered', silentMs: nowMs - before.aliveAtMs };
    return { state: { ...initialWatchdog(nowMs, beat), reportTimesMs: before.reportTimesMs }, action };
  }
  const state: WatchdogState = {
    ...before,
    tickAtMs: nowMs,
    aliveAtMs: before.aliveAtMs + gapMs,
    starvedMs: before.starvedMs + gapMs,
  };
  const silentMs = nowMs - state.aliveAtMs;
  if (silentMs >= limits.fatalMs) return { state, action: { kind: 'end', silentMs } };
  if (state.starvedMs >= limits.stallMs && !state.starvationReported) {
    return {
      state: { ...state, starvationReported: true },
      action: { kind: 'starved', starvedMs: state.starvedMs },
    };
  }
  return silentMs >= limits.stallMs ? decideReport(state, nowMs, limits) : { state, action: NONE };
}

function decideReport(
  state: WatchdogState,
  nowMs: number,
  limits: WatchdogLimits,
): { state: WatchdogState; action: WatchdogAction } {
  if (state.reportedAtMs !== null && nowMs - state.reportedAtMs < limits.repeatMs) {
    return { state, action: NONE };
  }
  const recent = state.reportTimesMs.filter((atMs) => nowMs - atMs < HOUR_MS);
  if (recent.length >= limits.maxReportsPerHour) return { state, action: NONE };
  return {
    state: { ...state, reportedAtMs: nowMs, reportTimesMs: [...recent, nowMs] },
    action: { kind: 'report', silentMs: nowMs - state.aliveAtMs },
  };
}
