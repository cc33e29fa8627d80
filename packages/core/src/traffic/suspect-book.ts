import type { Suspicion } from '@pagefleet/contract';
import type { PodHealth } from './pick-pod.ts';

const TRIAL_GROWTH = 60;

export interface PodEvidence {
  readonly kind: Suspicion['kind'];
  /** error code of the failure */
  readonly code: string;
  readonly pageId: string;
  readonly document?: string;
  /** when the page that failed was sent: a page sent before the suspicion tells nothing new */
  readonly dispatchedAtMs: number;
  readonly nowMs: number;
}

interface OpenSuspicion {
  readonly suspicion: Suspicion;
  readonly pageId: string;
  readonly trialAtMs: number;
  trialRuns: boolean;
  /** a trial page succeeded here: the pod takes pages, the report still waits for the controller's answer */
  restored: boolean;
}

interface SuspectState {
  n: number;
  nextTrialMs: number;
  open: OpenSuspicion | undefined;
}

/**
 * What a worker thinks of its pods until the controller answers (DESIGN 5, Quarantine). `unreachable` is out until it is
 * answered or proves itself by finishing a page; `refusing` gets one trial page after the trial delay, doubling to 60 times
 * as much (5 s and 300 s by default). Every trial ends in exactly one of `succeed`, `raise` and `abandonTrial`.
 */
export class SuspectBook {
  readonly #byPod = new Map<string, SuspectState>();
  readonly #trialDelayMs: number;

  constructor(trialDelayMs: number) {
    this.#trialDelayMs = trialDelayMs;
  }

  /** The suspicion when it is a new one, to be reported at once; undefined when it tells nothing new. */
  raise(podId: string, evidence: PodEvidence): Suspicion | undefined {
    const state = this.#stateOf(podId);
    if (state.open && isOldNews(state.open, evidence)) return undefined;
    state.n += 1;
    const suspicion: Suspicion = {
      n: state.n,
      kind: evidence.kind,
      code: evidence.code,
      atMs: evidence.nowMs,
      ...(evidence.document === undefined ? {} : { document: evidence.document }),
    };
    state.open = {
      suspicion,
      pageId: evidence.pageId,
      trialAtMs: evidence.nowMs + state.nextTrialMs,
      trialRuns: false,
      restored: false,
    };
    if (evidence.kind === 'refusing') {
      state.nextTrialMs = Math.min(TRIAL_GROWTH * this.#trialDelayMs, 2 * state.nextTrialMs);
    }
    return suspicion;
  }

  /** A slice says that suspicions up to this number are answered: the pod serves again. */
  answer(podId: string, answeredSuspect: number): void {
    const state = this.#byPod.get(podId);
    if (state?.open && state.open.suspicion.n <= answeredSuspect) state.open = undefined;
  }

  health(podId: string, nowMs: number): PodHealth {
    const open = this.#byPod.get(podId)?.open;
    if (open === undefined || open.restored) return 'good';
    if (open.suspicion.kind === 'unreachable' || open.trialRuns) return 'out';
    return nowMs >= open.trialAtMs ? 'trial' : 'out';
  }

  /** When a set-aside pod is due for its trial page; undefined when none is awaited. */
  trialAtMs(podId: string): number | undefined {
    const open = this.#byPod.get(podId)?.open;
    if (open === undefined || open.restored || open.trialRuns) return undefined;
    return open.suspicion.kind === 'refusing' ? open.trialAtMs : undefined;
  }

  startTrial(podId: string): void {
    const open = this.#byPod.get(podId)?.open;
    if (open) open.trialRuns = true;
  }

  /** The trial page ended without saying anything about the pod: the next page is the trial. */
  abandonTrial(podId: string): void {
    const open = this.#byPod.get(podId)?.open;
    if (open) open.trialRuns = false;
  }

  /** A page was read well. It restores a refusing pod only as its trial page (L6); it always proves a pod reachable. */
  succeed(podId: string, { trial }: { trial: boolean }): void {
    const state = this.#byPod.get(podId);
    if (state === undefined) return;
    const { open } = state;
    if (open && !trial && open.suspicion.kind === 'refusing' && !open.restored) return;
    state.nextTrialMs = this.#trialDelayMs;
    if (open) open.restored = true;
  }

  /** two pods refused this page, so it is the page's fault and the pod is cleared of what this page said. */
  withdraw(podId: string, pageId: string): void {
    const state = this.#byPod.get(podId);
    if (state?.open?.pageId !== pageId) return;
    state.open = undefined;
    state.nextTrialMs = this.#trialDelayMs;
  }

  /** What the report says of this pod. */
  suspicion(podId: string): Suspicion | undefined {
    return this.#byPod.get(podId)?.open?.suspicion;
  }

  /** The pod is gone for good; a pod of that id never comes back. */
  forget(podId: string): void {
    this.#byPod.delete(podId);
  }

  #stateOf(podId: string): SuspectState {
    const known = this.#byPod.get(podId);
    if (known) return known;
    const state: SuspectState = { n: 0, nextTrialMs: this.#trialDelayMs, open: undefined };
    this.#byPod.set(podId, state);
    return state;
  }
}

function isOldNews({ suspicion, restored, trialRuns }: OpenSuspicion, evidence: PodEvidence): boolean {
  if (restored) return evidence.dispatchedAtMs < suspicion.atMs;
  if (suspicion.kind === 'refusing' && evidence.kind === 'unreachable') return false;
  return !trialRuns || evidence.dispatchedAtMs < suspicion.atMs;
}
