/**
 * What the keeper of a pod's engine does next (R-040, law L16), decided from what happened and nothing else.
 *
 *   starting ──started──▶ serving ──died, condemned──▶ closing ──closed──▶ resting ──rested──▶ starting
 *      └──start_failed──────────────────────────────────▲  └── close_failed: again after a while
 *   stop: whatever runs is closed first, then it is over
 */
export type Keeping = Past &
  (
    | { readonly at: 'starting' }
    | { readonly at: 'serving'; readonly sinceMs: number }
    | { readonly at: 'closing' }
    | { readonly at: 'resting' }
    | { readonly at: 'over' }
  );

interface Past {
  readonly isStopping: boolean;
  /** in a row */
  readonly failedStarts: number;
  /** engines in a row that did not start, or died soon after */
  readonly shortLives: number;
  /** see `EngineKeeper.fault` */
  readonly fault: string | null;
}

export type KeeperEvent =
  | { readonly kind: 'started'; readonly atMs: number }
  /** `lasting`: why no further start can help; `said`: what may be told of any other failure */
  | { readonly kind: 'start_failed'; readonly lasting: string | null; readonly said: string | null }
  | { readonly kind: 'died' | 'condemned'; readonly atMs: number }
  | { readonly kind: 'closed' | 'close_failed' | 'rested' | 'stop' };

/** `rest`: tell `rested` after so long; `start`: of a new engine */
export type KeeperAct = { readonly kind: 'start' | 'close' } | { readonly kind: 'rest'; readonly ms: number };

interface Kept {
  readonly state: Keeping;
  /** null: wait */
  readonly act: KeeperAct | null;
}

export type DecideKeeping = (state: Keeping, event: KeeperEvent) => Kept;

export const FIRST_REST_MS = 1_000;
export const LONGEST_REST_MS = 60_000;
/** An engine that served for so long was no bad start; one that dies sooner, time and again, must not be started every second. */
export const STOOD_MS = 60_000;
/** One start may fail for a reason that passes: a hub that does not answer, a port that was just taken. */
const FAULT_AFTER_STARTS = 3;

export const FIRST_START: Keeping = {
  at: 'starting',
  isStopping: false,
  failedStarts: 0,
  shortLives: 0,
  fault: null,
};

/** An event that cannot happen in a state came late, and changes nothing. */
export const decideKeeping: DecideKeeping = (state, event) => {
  const past = pastOf(state);
  switch (event.kind) {
    case 'started':
      if (state.at !== 'starting') return wait(state);
      return wait({ ...past, at: 'serving', sinceMs: event.atMs, failedStarts: 0, fault: null });
    case 'start_failed': {
      if (state.at !== 'starting') return wait(state);
      const failedStarts = past.failedStarts + 1;
      const fault = event.lasting ?? (failedStarts < FAULT_AFTER_STARTS ? null : event.said);
      return close({ ...past, failedStarts, fault, shortLives: past.shortLives + 1 });
    }
    case 'died':
    case 'condemned':
      if (state.at !== 'serving') return wait(state);
      return close({
        ...past,
        shortLives: event.atMs - state.sinceMs >= STOOD_MS ? 0 : past.shortLives + 1,
      });
    case 'closed':
      if (state.at !== 'closing') return wait(state);
      if (past.isStopping) return wait({ ...past, at: 'over' });
      return { state: { ...past, at: 'resting' }, act: { kind: 'rest', ms: restMs(past.shortLives) } };
    case 'close_failed':
      // Two engines side by side are worse than none.
      return state.at === 'closing' ? { state, act: { kind: 'rest', ms: FIRST_REST_MS } } : wait(state);
    case 'rested':
      if (state.at === 'closing') return { state, act: { kind: 'close' } };
      return state.at === 'resting'
        ? { state: { ...past, at: 'starting' }, act: { kind: 'start' } }
        : wait(state);
    case 'stop':
      return stop(state);
  }
};

function restMs(shortLives: number): number {
  return Math.min(FIRST_REST_MS * 2 ** shortLives, LONGEST_REST_MS);
}

function stop(state: Keeping): Kept {
  const past = { ...pastOf(state), isStopping: true };
  switch (state.at) {
    case 'starting':
    case 'serving':
      return close(past);
    case 'resting':
      return wait({ ...past, at: 'over' });
    case 'closing':
    case 'over':
      return wait({ ...past, at: state.at });
  }
}

function close(past: Past): Kept {
  return { state: { ...past, at: 'closing' }, act: { kind: 'close' } };
}

function wait(state: Keeping): Kept {
  return { state, act: null };
}

function pastOf({ isStopping, failedStarts, shortLives, fault }: Keeping): Past {
  return { isStopping, failedStarts, shortLives, fault };
}
