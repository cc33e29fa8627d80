import type { RefusalFault } from './offer.ts';
import type {
  EndReason,
  Pod,
  PodStateName,
  QuarantinedPod,
  RefusingPod,
  ServingPod,
  TerminatingPod,
  UnreachablePod,
} from './pod-state.ts';
import type { ProbePurpose } from './probe.ts';

export const LOOK_INTERVAL_MS = 10_000;

export type Answered = Readonly<Record<string, number>>;

/**
 * What can happen to a pod. The shell brings `calling`, `created`, `create-refused`, `not-sent` and `answer-lost`, the outcomes of
 * the paid call; all others are decided by `decide`.
 */
export type PodEvent =
  | {
      readonly kind: 'created';
      readonly id: string;
      readonly url: string | null;
      readonly priceUsdPerHour: number | null;
      /** by the provider's clock: from then on it bills */
      readonly createdAtMs?: number;
    }
  /** the provider said no: nothing was bought */
  | { readonly kind: 'create-refused'; readonly fault: RefusalFault }
  /** the intent was given up before the call */
  | { readonly kind: 'not-sent' }
  /** the paid call begins; on disk before it does */
  | { readonly kind: 'calling' }
  /** time-out, 5xx or a cut connection: it may have been bought */
  | { readonly kind: 'answer-lost' }
  | { readonly kind: 'looked' }
  | {
      readonly kind: 'seen';
      readonly atMs: number;
      readonly url: string | null;
      readonly priceUsdPerHour: number | null;
    }
  | { readonly kind: 'probe-asked'; readonly purpose: ProbePurpose; readonly nextProbeMs: number }
  /** the question came to nothing: lost, or a shortage of ours */
  | { readonly kind: 'probe-void' }
  | { readonly kind: 'boot-excused'; readonly deadlineMs: number }
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'suspected';
      readonly reason: 'unreachable';
      readonly detail: string;
      readonly answered: Answered;
      /** of the trial page that it owes besides; null = none */
      readonly owesTrialMs: number | null;
      readonly nextProbeMs: number;
    }
  | {
      readonly kind: 'suspected';
      readonly reason: 'refusing';
      readonly detail: string;
      readonly answered: Answered;
      /** until its trial page */
      readonly backoffMs: number;
    }
  | { readonly kind: 'probe-failed'; readonly strike: boolean; readonly detail: string }
  | { readonly kind: 'trial-failed'; readonly detail: string; readonly backoffMs: number }
  | { readonly kind: 'restored'; readonly answered: Answered }
  | { readonly kind: 'drain'; readonly why: EndReason; readonly deadlineMs: number }
  | { readonly kind: 'end'; readonly why: EndReason }
  | { readonly kind: 'asked-again' }
  /** the provider took the end of a pod that it knew, so it need not be shown first to be gone */
  | { readonly kind: 'end-accepted'; readonly atMs: number }
  | { readonly kind: 'gone'; readonly why: EndReason };

export type PodEventKind = PodEvent['kind'];

export type TransitionResult =
  | { readonly legal: true; readonly pod: Pod }
  | { readonly legal: false; readonly from: PodStateName; readonly event: PodEventKind };

type In<S extends PodStateName> = Extract<Pod, { state: S }>;
type Ev<K extends PodEventKind> = Extract<PodEvent, { kind: K }>;
type Handlers = {
  readonly [S in PodStateName]: {
    readonly [K in PodEventKind]?: (pod: In<S>, event: Ev<K>, nowMs: number) => Pod | null;
  };
};

/** What a state machine allows. An entry that is missing is illegal; a handler answers null when its data forbid it. */
const TABLE = {
  renting: {
    created: (pod, event, nowMs) => ({
      ...common(pod),
      state: 'booting',
      id: event.id,
      url: event.url,
      priceUsdPerHour: event.priceUsdPerHour ?? pod.priceUsdPerHour,
      // Not before it was asked for and not after we heard of it, whatever another clock says.
      createdAtMs: Math.min(Math.max(event.createdAtMs ?? 0, pod.createdAtMs), nowMs),
      sinceMs: nowMs,
      deadlineMs: nowMs + pod.bootDeadlineMs,
      origin: 'rented',
      nextProbeMs: nowMs,
      asked: null,
    }),
    'create-refused': (pod, { fault }, nowMs) => ({
      ...common(pod),
      ...{ state: 'terminated', id: null, atMs: nowMs, why: 'refused', fault },
    }),
    'not-sent': (pod, _event, nowMs) => terminated(pod, 'not-sent', nowMs),
    calling: (pod) => (pod.answer === 'uncalled' ? { ...pod, answer: 'pending' } : null),
    'answer-lost': (pod, _event, nowMs) => ({ ...pod, answer: 'ambiguous', nextLookMs: nowMs }),
    looked: (pod, _event, nowMs) => ({ ...pod, nextLookMs: nowMs + LOOK_INTERVAL_MS }),
    gone: (pod, event, nowMs) => terminated(pod, event.why, nowMs),
  },
  booting: {
    // The listing may show the pod before the call returns; the same id again is no news, another id is a second pod.
    created: (pod, event) =>
      event.id === pod.id
        ? { ...pod, url: event.url ?? pod.url, priceUsdPerHour: event.priceUsdPerHour ?? pod.priceUsdPerHour }
        : null,
    seen: (pod, event) => seen(pod, event),
    'probe-asked': (pod, event, nowMs) => asked(pod, event, nowMs),
    'probe-void': (pod) => ({ ...pod, asked: null }),
    'boot-excused': (pod, event) => ({ ...pod, deadlineMs: event.deadlineMs }),
    ready: (pod, _event, nowMs) => serving(pod, nowMs),
    end: (pod, event, nowMs) => terminating(pod, event.why, nowMs),
    gone: (pod, event, nowMs) => terminated(pod, event.why, nowMs),
  },
  serving: {
    created: (pod, event) => (event.id === pod.id ? pod : null),
    seen: (pod, event) => seen(pod, event),
    'probe-asked': (pod, event, nowMs) => asked(pod, event, nowMs),
    'probe-void': (pod) => ({ ...pod, asked: null }),
    suspected: (pod, event, nowMs) => quarantined(pod, event, nowMs),
    drain: (pod, event, nowMs) => draining(pod, event, nowMs),
    end: (pod, event, nowMs) => terminating(pod, event.why, nowMs),
    gone: (pod, event, nowMs) => terminated(pod, event.why, nowMs),
  },
  quarantined: {
    seen: (pod, event) => seen(pod, event),
    'probe-asked': (pod, event, nowMs) => asked(pod, event, nowMs),
    'probe-void': (pod) => ({ ...pod, asked: null }),
    suspected: (pod, event, nowMs) => quarantined(pod, event, nowMs),
    'probe-failed': (pod, event) =>
      pod.reason === 'unreachable'
        ? { ...pod, asked: null, strikes: pod.strikes + (event.strike ? 1 : 0), detail: event.detail }
        : null,
    'trial-failed': (pod, event, nowMs) => {
      if (pod.reason !== 'refusing') return null;
      const { backoffMs, detail } = event;
      return { ...pod, asked: null, backoffMs, nextProbeMs: nowMs + backoffMs, detail };
    },
    restored: (pod, event, nowMs) => ({ ...serving(pod, nowMs), answered: event.answered }),
    drain: (pod, event, nowMs) => draining(pod, event, nowMs),
    end: (pod, event, nowMs) => terminating(pod, event.why, nowMs),
    gone: (pod, event, nowMs) => terminated(pod, event.why, nowMs),
  },
  draining: {
    seen: (pod, event) => seen(pod, event),
    end: (pod, event, nowMs) => terminating(pod, event.why, nowMs),
    gone: (pod, event, nowMs) => terminated(pod, event.why, nowMs),
  },
  terminating: {
    seen: (pod, event) => seen(pod, event),
    'end-accepted': (pod, { atMs }) => ({ ...pod, shownAtMs: pod.shownAtMs ?? atMs }),
    'asked-again': (pod, _event, nowMs) => ({ ...pod, asks: pod.asks + 1, askedAtMs: nowMs }),
    gone: (pod, _event, nowMs) => terminated(pod, pod.why, nowMs),
  },
  terminated: {},
} satisfies Handlers;

/** The one way a pod changes. An illegal event is an answer, so that its owner can log it and go on. */
export function transition(pod: Pod, event: PodEvent, nowMs: number): TransitionResult {
  // The table's row and the event belong together by construction, which the type of a look-up cannot say.
  const row = TABLE[pod.state] as Partial<
    Record<PodEventKind, (pod: Pod, event: PodEvent, nowMs: number) => Pod | null>
  >;
  const next = row[event.kind]?.(pod, event, nowMs) ?? null;
  if (next === null) return { legal: false, from: pod.state, event: event.kind };
  return { legal: true, pod: { ...next, revision: pod.revision + 1 } };
}

/** Only what is true in every state, so that nothing of the old state stays behind. */
function common(pod: Pod) {
  const { key, name, pool, width, url, priceUsdPerHour, createdAtMs, bootDeadlineMs, configHash, offer } =
    pod;
  const { shownAtMs, answered, revision } = pod;
  return {
    ...{ key, name, pool, width, url, priceUsdPerHour, createdAtMs, bootDeadlineMs, configHash, offer },
    ...{ shownAtMs, answered, revision },
  };
}

function serving(pod: In<'booting' | 'quarantined'>, nowMs: number): ServingPod {
  return { ...common(pod), state: 'serving', id: pod.id, sinceMs: nowMs, nextProbeMs: nowMs, asked: null };
}

/** An unreachable pod is asked at once, so the question is part of the change. */
function quarantined(
  pod: ServingPod | QuarantinedPod,
  event: Ev<'suspected'>,
  nowMs: number,
): UnreachablePod | RefusingPod {
  const base = {
    ...common(pod),
    id: pod.id,
    answered: event.answered,
    state: 'quarantined',
    sinceMs: nowMs,
    detail: event.detail,
  } as const;
  if (event.reason === 'refusing') {
    const { backoffMs } = event;
    return { ...base, reason: 'refusing', backoffMs, nextProbeMs: nowMs + backoffMs, asked: null };
  }
  return {
    ...base,
    reason: 'unreachable',
    strikes: 0,
    owesTrialMs: event.owesTrialMs,
    nextProbeMs: event.nextProbeMs,
    asked: { purpose: 'immediate', askedAtMs: nowMs },
  };
}

function draining(pod: In<'serving' | 'quarantined'>, event: Ev<'drain'>, nowMs: number): Pod {
  return {
    ...common(pod),
    state: 'draining',
    id: pod.id,
    sinceMs: nowMs,
    deadlineMs: event.deadlineMs,
    why: event.why,
  };
}

function terminating(
  pod: In<'booting' | 'serving' | 'quarantined' | 'draining'>,
  why: EndReason,
  nowMs: number,
): TerminatingPod {
  return { ...common(pod), state: 'terminating', id: pod.id, sinceMs: nowMs, why, askedAtMs: nowMs, asks: 1 };
}

function terminated(pod: Pod, why: EndReason, nowMs: number): Pod {
  return { ...common(pod), state: 'terminated', id: pod.id, atMs: nowMs, why };
}

function asked<P extends In<'booting' | 'serving' | 'quarantined'>>(
  pod: P,
  event: Ev<'probe-asked'>,
  nowMs: number,
): P {
  return { ...pod, asked: { purpose: event.purpose, askedAtMs: nowMs }, nextProbeMs: event.nextProbeMs };
}

/** Re-meeting a pod refreshes its address and its bill, nothing else. */
function seen<P extends Pod>(pod: P, event: Ev<'seen'>): P {
  return {
    ...pod,
    shownAtMs: pod.shownAtMs ?? event.atMs,
    url: event.url ?? pod.url,
    priceUsdPerHour: event.priceUsdPerHour ?? pod.priceUsdPerHour,
  };
}
