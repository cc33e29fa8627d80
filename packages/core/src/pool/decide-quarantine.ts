import type { Bucket } from './classify.ts';
import { faultOfOurs, mayEndByProbe } from './evidence.ts';
import { answeredNow, type PodView } from './pod-view.ts';
import { OUTCOMES } from './probe.ts';
import { askStep, type Decide, endStep, nameOf, type Step, seconds } from './step.ts';
import { longestTrialMs, type WatchSettings } from './watch.ts';

const STRIKES_TO_END = 3;

/**
 * In and out of quarantine (R-030 … R-033).
 *
 *   serving ──refused connection──▶ unreachable ──any answer──▶ serving
 *      │                               │  ▲                (owes a trial: ▶ refusing)
 *      │                 3 failed      │  │ no answer
 *      │                 scheduled     ▼  │ to a trial
 *      └──────refused a page──▶ end  refusing ──a trial page read──▶ serving
 */
export const QUARANTINE_STEPS = {
  accused: decideAccused,
  'check-failed': (v) => suspectUnreachable(v, null, outcomeWords(v)),
  'first-page-refused': (v) => suspectRefusing(v, firstTrialMs(v), outcomeWords(v)),
  answered: decideAnswered,
  'probe-failed': decideFailedProbe,
  'probe-due': (v) => askStep(v, 'scheduled', nextProbeMs(v)),
  unreachable: () => null,
  'trial-read': decideReadTrial,
  // Silence is another matter than a refusal: the pod is probed like any unreachable one and still owes the trial.
  'trial-unanswered': (v) => suspectUnreachable(v, backoffMs(v) * 2, outcomeWords(v)),
  'trial-refused': decideRefusedTrial,
  'trial-due': (v) => ({
    event: { kind: 'probe-asked', purpose: 'trial', nextProbeMs: v.nowMs + backoffMs(v) },
    reason: `${nameOf(v)} refused pages and gets a trial page`,
    effect: { kind: 'trial' },
  }),
  refusing: () => null,
} as const satisfies Partial<Record<Bucket, Decide>>;

function decideAccused(view: PodView): Step {
  const unreachable = view.news.find((s) => s.kind === 'unreachable');
  const refusing = view.news.find((s) => s.kind === 'refusing');
  if (unreachable === undefined)
    return suspectRefusing(view, firstTrialMs(view), `refused a page (${refusing?.code})`);
  return suspectUnreachable(
    view,
    refusing === undefined ? null : firstTrialMs(view),
    `could not be reached (${unreachable.code})`,
  );
}

/**
 * An answer restores at once and at full width, and with it every suspicion older than the answer is dealt with.
 * A younger one starts anew; a refusal among them is answered by a trial page only.
 */
function decideAnswered(view: PodView): Step {
  const { pod, news } = view;
  const answeredAtMs = Math.max(view.provenMs, view.result?.endedAtMs ?? 0);
  const owedMs = pod.state === 'quarantined' && pod.reason === 'unreachable' ? pod.owesTrialMs : null;
  const refused = news.find((s) => s.kind === 'refusing');
  const owesTrialMs = owedMs ?? (refused === undefined ? null : firstTrialMs(view));
  const younger = news.find((s) => s.kind === 'unreachable' && s.atMs > answeredAtMs);
  if (younger !== undefined)
    return suspectUnreachable(view, owesTrialMs, `could not be reached again (${younger.code})`);
  if (owesTrialMs !== null) return suspectRefusing(view, owesTrialMs, 'answers again but refused a page');
  return restore(
    view,
    `${nameOf(view)} ${view.result === null ? 'finished a page' : outcomeWords(view)} and serves again`,
  );
}

/**
 * Only a scheduled probe counts, and only if others could answer us in the same time; the third ends the pod. The
 * judgement is made once, when the result comes in, so that strikes from an outage of ours never pile up.
 */
function decideFailedProbe(view: PodView): Step {
  const { pod, result, pass } = view;
  const words = outcomeWords(view);
  if (pod.state !== 'quarantined' || pod.reason !== 'unreachable' || result?.purpose !== 'scheduled') {
    return {
      event: { kind: 'probe-failed', strike: false, detail: words },
      reason: `${nameOf(view)} ${words}; no strike`,
    };
  }
  const fault = faultOfOurs(pod, pass.world, pod.sinceMs);
  if (fault !== null) {
    pass.alarms.push(
      `${nameOf(view)} ${words}, but the fault looks like ours: ${fault}; nothing is ended or rented`,
    );
    return {
      event: { kind: 'probe-failed', strike: false, detail: words },
      reason: `${nameOf(view)} ${words}, but ${fault}; no strike`,
    };
  }
  const strikes = pod.strikes + 1;
  if (strikes >= STRIKES_TO_END && mayEndByProbe(pod.pool, pass)) {
    return {
      ...endStep(
        view,
        'unreachable',
        `failed ${strikes} scheduled probes (${seconds(view.nowMs - pod.sinceMs)})`,
      ),
      isEndByProbe: true,
    };
  }
  const waits = strikes >= STRIKES_TO_END ? '; another pod was ended within the minute, so it waits' : '';
  return {
    event: { kind: 'probe-failed', strike: true, detail: words },
    reason: `${nameOf(view)} ${words}: strike ${strikes}${waits}`,
  };
}

function decideReadTrial(view: PodView): Step {
  const readAtMs = view.result?.endedAtMs ?? view.nowMs;
  if (view.news.some((s) => s.kind === 'refusing' && s.atMs > readAtMs)) {
    return suspectRefusing(view, backoffMs(view) * 2, 'read a trial page but refused another since');
  }
  return restore(view, `${nameOf(view)} read a trial page and serves again`);
}

/**
 * A full pod has refused nothing. One that still refuses after the longest wait (about ten minutes by default) is ended if the fault
 * is its own: another pod of the same configuration finished a page meanwhile. Else it would bill, and count as capacity,
 * for ever.
 */
function decideRefusedTrial(view: PodView): Step {
  const { pod, result, pass } = view;
  if (result?.outcome === 'busy' || result?.outcome === 'ready') {
    return { event: { kind: 'probe-void' }, reason: `${nameOf(view)} has no room for a trial page` };
  }
  const isHopeless =
    backoffMs(view) >= longestTrialMs(watchOf(view)) && hasGoodTwin(view) && mayEndByProbe(pod.pool, pass);
  if (isHopeless)
    return { ...endStep(view, 'refusing', 'refuses every trial page while others read'), isEndByProbe: true };
  return {
    event: {
      kind: 'trial-failed',
      detail: outcomeWords(view),
      backoffMs: boundedMs(backoffMs(view) * 2, watchOf(view)),
    },
    reason: `${nameOf(view)} ${outcomeWords(view)}`,
  };
}

function hasGoodTwin({ pod, pass, nowMs }: PodView): boolean {
  const { world } = pass;
  return [...pass.registry.values()].some((other) => {
    if (
      other.key === pod.key ||
      other.pool !== pod.pool ||
      other.configHash !== pod.configHash ||
      other.id === null
    )
      return false;
    return (world.reports?.pods.get(other.id)?.lastGoodMs ?? 0) > nowMs - longestTrialMs(world.watch);
  });
}

function suspectUnreachable(view: PodView, owesTrialMs: number | null, detail: string): Step {
  return {
    event: {
      kind: 'suspected',
      reason: 'unreachable',
      detail,
      answered: answeredNow(view),
      owesTrialMs: owesTrialMs === null ? null : boundedMs(owesTrialMs, watchOf(view)),
      nextProbeMs: nextProbeMs(view),
    },
    reason: `${nameOf(view)} ${detail}; it is set aside and probed at once`,
    effect: { kind: 'probe', purpose: 'immediate' },
  };
}

function suspectRefusing(view: PodView, pauseMs: number, detail: string): Step {
  return {
    event: {
      kind: 'suspected',
      reason: 'refusing',
      detail,
      answered: answeredNow(view),
      backoffMs: boundedMs(pauseMs, watchOf(view)),
    },
    reason: `${nameOf(view)} ${detail}; it is set aside until it reads a trial page`,
  };
}

function restore(view: PodView, reason: string): Step {
  return { event: { kind: 'restored', answered: answeredNow(view) }, reason };
}

function watchOf({ pass }: PodView): WatchSettings {
  return pass.world.watch;
}

function nextProbeMs(view: PodView): number {
  return view.nowMs + watchOf(view).probeIntervalMs;
}

function firstTrialMs(view: PodView): number {
  return watchOf(view).trialDelayMs;
}

function backoffMs(view: PodView): number {
  const { pod } = view;
  return pod.state === 'quarantined' && pod.reason === 'refusing' ? pod.backoffMs : firstTrialMs(view);
}

function boundedMs(pauseMs: number, watch: WatchSettings): number {
  return Math.min(pauseMs, longestTrialMs(watch));
}

function outcomeWords({ result }: PodView): string {
  return result === null ? 'did not answer' : OUTCOMES[result.outcome].words;
}
