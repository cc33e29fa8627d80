/**
 * What is known of a model server from its start to its end. It says nothing of how many pages it reads: a server
 * that is `ready` here may have every slot taken.
 *
 *   starting ──trial page read──▶ ready ──3 s probe missed──▶ ready, doubted ──15 s probe slow or missed──▶ busy
 *      │                           ▲ ◀───────────── any answer within 3 s ──────────────────────────────────┘
 *      └── start time over ─┐      └── exited, or it says itself three times in a row that its engine is dead ─┐
 *                           └──────────────────────────────▶ dead ◀──────────────────────────────────────────┘
 */
export type ServerState =
  | { readonly at: 'starting'; readonly failedTrials: number }
  | { readonly at: 'ready'; readonly doubted: boolean; readonly broken: number }
  /** alive and slow: it is used, not replaced (law L16) */
  | { readonly at: 'busy'; readonly broken: number }
  | { readonly at: 'dead'; readonly why: string };

export type ServerEvent =
  /** it answers and has read a page */
  | { readonly kind: 'page_read' }
  /** it answered, and what it answered is no reply; one that only takes long has not failed (law L16) */
  | { readonly kind: 'trial_failed' }
  | { readonly kind: 'start_time_over' }
  | { readonly kind: 'exited'; readonly how: string }
  /** `missed`: no answer within the time that `probeTimeoutMs` gives; `broken`: it answered that its engine is dead */
  | { readonly kind: 'probed'; readonly answer: 'up' | 'broken' | 'missed'; readonly tookMs: number };

export const PROBE_MS = 3_000;
export const PATIENT_PROBE_MS = 15_000;
/** vLLM answers 503 to `/health` only when its engine has failed for good; once may be said by something between. */
const BROKEN_IN_A_ROW = 3;
/** What fails so often in a row is told, and the server started anew. */
const TRIALS = 3;

export const STARTING: ServerState = { at: 'starting', failedTrials: 0 };

export interface ServerRules {
  readonly next: (state: ServerState, event: ServerEvent) => ServerState;
  readonly probeTimeoutMs: (state: ServerState) => number;
}

export function nextServerState(state: ServerState, event: ServerEvent): ServerState {
  if (state.at === 'dead') return state;
  switch (event.kind) {
    case 'exited':
      return { at: 'dead', why: event.how };
    case 'start_time_over':
      return state.at === 'starting' ? { at: 'dead', why: 'it was not ready in time' } : state;
    case 'page_read':
      return state.at === 'starting' ? { at: 'ready', doubted: false, broken: 0 } : state;
    case 'trial_failed':
      return state.at === 'starting' ? afterFailedTrial(state.failedTrials + 1) : state;
    case 'probed':
      return state.at === 'starting' ? state : afterProbe(state, event);
  }
}

/** How long the next probe may take: one that was missed, or a server known to be slow, gets the patient one. */
export function probeTimeoutMs(state: ServerState): number {
  const isPatient = state.at === 'busy' || (state.at === 'ready' && state.doubted);
  return isPatient ? PATIENT_PROBE_MS : PROBE_MS;
}

export const SERVER_RULES: ServerRules = { next: nextServerState, probeTimeoutMs };

function afterFailedTrial(failedTrials: number): ServerState {
  if (failedTrials < TRIALS) return { at: 'starting', failedTrials };
  return { at: 'dead', why: `its trial page failed ${failedTrials} times` };
}

type LiveState = Extract<ServerState, { at: 'ready' | 'busy' }>;

function afterProbe(state: LiveState, probe: Extract<ServerEvent, { kind: 'probed' }>): ServerState {
  if (probe.answer === 'broken') {
    const broken = state.broken + 1;
    if (broken < BROKEN_IN_A_ROW) return { ...state, broken };
    return { at: 'dead', why: `it said ${broken} times in a row that its engine is dead` };
  }
  const isSlow = probe.answer === 'missed' || probe.tookMs > PROBE_MS;
  if (!isSlow) return { at: 'ready', doubted: false, broken: 0 };
  if (state.at === 'ready' && !state.doubted) return { at: 'ready', doubted: true, broken: 0 };
  return { at: 'busy', broken: 0 };
}
