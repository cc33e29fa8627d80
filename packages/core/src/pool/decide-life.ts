import { UNKNOWN_POOL_GRACE_MS } from './adopt.ts';
import type { Bucket } from './classify.ts';
import { faultOfOurs } from './evidence.ts';
import type { PodView } from './pod-view.ts';
import { OUTCOMES } from './probe.ts';
import { askStep, type Decide, endStep, nameOf, type Step, seconds } from './step.ts';
import { checkIntervalMs } from './watch.ts';

/** How much longer a boot gets when its silence rather speaks against us. */
const BOOT_EXCUSE_MS = 60_000;

/** What follows from the buckets of renting, booting, draining, ending and the plain round of checks. */
export const LIFE_STEPS = {
  over: () => null,
  gone: decideGone,
  found: decideFound,
  'look-up': (v) => ({
    event:
      v.pod.state === 'renting' && v.pod.answer !== 'ambiguous'
        ? { kind: 'answer-lost' }
        : { kind: 'looked' },
    reason: `whether ${v.pod.name} was bought is not known; its name is looked up`,
    ...(v.pod.state === 'renting' && v.pod.answer !== 'ambiguous'
      ? {}
      : { effect: { kind: 'resolve' } as const }),
  }),
  renting: () => null,
  shown: decideShown,
  'ask-again': (v) => ({
    event: { kind: 'asked-again' },
    reason: `${nameOf(v)} is still there and is asked to end again`,
    effect: { kind: 'terminate', why: v.pod.state === 'terminating' ? v.pod.why : 'gone' },
  }),
  terminating: () => null,
  drained: (v) =>
    endStep(
      v,
      v.pod.state === 'draining' ? v.pod.why : 'idle',
      isOverdue(v) ? 'has drained for its whole grace' : 'has no page left',
    ),
  draining: () => null,
  exited: (v) => endStep(v, 'exited', 'exists but runs nothing, says the listing'),
  'pool-unknown': decideUnknownPool,
  overpriced: (v) => leave(v, 'overpriced', `bills $${v.pod.priceUsdPerHour ?? 0}/h, above the ceiling`),
  'too-old': (v) => leave(v, 'too-old', 'nears the age at which the provider would end it'),
  unasked: (v) => ({
    event: { kind: 'probe-void' },
    reason: `the last probe of ${nameOf(v)} says nothing about it`,
  }),
  up: (v) => ({
    event: { kind: 'ready' },
    reason: `${nameOf(v)} ${v.result === null ? 'finished a page' : OUTCOMES[v.result.outcome].words} and serves`,
  }),
  'boot-hopeless': (v) =>
    endStep(v, 'boot-failed', `${OUTCOMES.unfit.words}: ${v.result?.detail ?? 'no reason given'}`),
  'boot-silent': (v) => ({ event: { kind: 'probe-void' }, reason: `${nameOf(v)} is not up yet` }),
  'boot-late': decideLateBoot,
  'boot-probe-due': (v) => askStep(v, 'boot', v.nowMs + bootProbeIntervalMs(v)),
  booting: () => null,
  'check-answered': (v) => ({ event: { kind: 'probe-void' }, reason: `${nameOf(v)} answered` }),
  'first-page-crowded': (v) => ({
    event: { kind: 'probe-void' },
    reason: `${nameOf(v)} reads pages of clients and had no time for the trial page`,
  }),
  'first-page-due': (v) => ({
    event: { kind: 'probe-asked', purpose: 'trial', nextProbeMs: nextCheckMs(v) },
    reason: `${nameOf(v)} is the first of its configuration and gets a trial page`,
    effect: { kind: 'trial' },
  }),
  'check-due': (v) => askStep(v, 'check', nextCheckMs(v)),
  serving: () => null,
} as const satisfies Partial<Record<Bucket, Decide>>;

function nextCheckMs({ nowMs, pass }: PodView): number {
  return nowMs + checkIntervalMs(pass.world.watch);
}

function decideGone(view: PodView): Step {
  const why = view.pod.shownAtMs === null ? 'never-seen' : 'gone';
  const reason =
    why === 'gone'
      ? `${nameOf(view)} is absent from two complete listings`
      : `${nameOf(view)} never appeared in a listing in 15 minutes`;
  return { event: { kind: 'gone', why }, reason };
}

function decideFound(view: PodView): Step | null {
  const { entry } = view;
  if (entry === null) return null;
  const { id, url, priceUsdPerHour, createdAtMs } = entry;
  return {
    event: { kind: 'created', id, url, priceUsdPerHour, createdAtMs },
    reason: `the listing shows ${view.pod.name} as ${id}: it was bought`,
  };
}

function decideShown(view: PodView): Step | null {
  const { entry, pass } = view;
  if (entry === null) return null;
  const { url, priceUsdPerHour } = entry;
  const atMs = pass.world.listing.newest?.startedAtMs ?? view.nowMs;
  return { event: { kind: 'seen', atMs, url, priceUsdPerHour }, reason: `the listing shows ${nameOf(view)}` };
}

function decideUnknownPool(view: PodView): Step {
  view.pass.alarms.push(`${nameOf(view)} belongs to the pool "${view.pod.pool}", which is not configured`);
  return leave(view, 'unknown-pool', 'belongs to a pool that is not configured');
}

/** Serving pods finish their pages first; one that boots has none. */
function leave(view: PodView, why: 'overpriced' | 'too-old' | 'unknown-pool', reason: string): Step {
  if (view.pod.state === 'booting') return endStep(view, why, reason);
  const deadlineMs = view.nowMs + (view.settings?.graceMs ?? UNKNOWN_POOL_GRACE_MS);
  return { event: { kind: 'drain', why, deadlineMs }, reason: `${nameOf(view)} ${reason}; it drains` };
}

/** A boot's silence is a failed probe too: where nobody else answers it proves nothing (L5). */
function decideLateBoot(view: PodView): Step {
  const fault = faultOfOurs(view.pod, view.pass.world);
  if (fault === null)
    return endStep(
      view,
      'boot-failed',
      `did not come up within ${seconds(view.nowMs - view.pod.createdAtMs)}`,
    );
  view.pass.alarms.push(`${nameOf(view)} does not come up, but the fault looks like ours: ${fault}`);
  return {
    event: { kind: 'boot-excused', deadlineMs: view.nowMs + BOOT_EXCUSE_MS },
    reason: `${nameOf(view)} is late, but ${fault}`,
  };
}

/** Often at first, for pods that are up in a second; then a tenth of the age, at most every 5 s. */
function bootProbeIntervalMs({ pod, nowMs }: PodView): number {
  return Math.min(5_000, Math.max(500, (nowMs - pod.createdAtMs) / 10));
}

function isOverdue({ pod, nowMs }: PodView): boolean {
  return pod.state === 'draining' && nowMs >= pod.deadlineMs;
}
