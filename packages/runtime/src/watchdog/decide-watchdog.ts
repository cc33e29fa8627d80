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

type Decision = { state: WatchdogState; action: WatchdogAction };

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
): Decision {
  const { nowMs, beat } = seen;
  const gapMs = Math.max(0, nowMs - before.tickAtMs - 2 * limits.tickMs);
  const state: WatchdogState = {
    ...before,
    tickAtMs: nowMs,
    aliveAtMs: before.aliveAtMs + gapMs,
    starvedMs: before.starvedMs + gapMs,
  };
  const silentMs = nowMs - state.aliveAtMs;
  const wasStarved = state.starvedMs >= limits.stallMs && !state.starvationReported;
  if (beat !== before.beat) {
    const turned = { ...initialWatchdog(nowMs, beat), reportTimesMs: state.reportTimesMs };
    if (before.reportedAtMs !== null) return { state: turned, action: { kind: 'recovered', silentMs } };
    return wasStarved ? decideStarved(turned, state.starvedMs, limits) : { state: turned, action: NONE };
  }
  if (silentMs >= limits.fatalMs) return { state, action: { kind: 'end', silentMs } };
  if (wasStarved) return decideStarved({ ...state, starvationReported: true }, state.starvedMs, limits);
  return silentMs >= limits.stallMs ? decideReport(state, silentMs, limits) : { state, action: NONE };
}

function decideStarved(state: WatchdogState, starvedMs: number, limits: WatchdogLimits): Decision {
  const counted = countReport(state, limits);
  return counted ? { state: counted, action: { kind: 'starved', starvedMs } } : { state, action: NONE };
}

function decideReport(state: WatchdogState, silentMs: number, limits: WatchdogLimits): Decision {
  const sinceLastMs = state.reportedAtMs === null ? Infinity : state.tickAtMs - state.reportedAtMs;
  const counted = sinceLastMs < limits.repeatMs ? null : countReport(state, limits);
  if (!counted) return { state, action: NONE };
  return { state: { ...counted, reportedAtMs: state.tickAtMs }, action: { kind: 'report', silentMs } };
}

/** null when this hour's reports are used up */
function countReport(state: WatchdogState, limits: WatchdogLimits): WatchdogState | null {
  const recent = state.reportTimesMs.filter((atMs) => state.tickAtMs - atMs < HOUR_MS);
  return recent.length < limits.maxReportsPerHour
    ? { ...state, reportTimesMs: [...recent, state.tickAtMs] }
    : null;
}
