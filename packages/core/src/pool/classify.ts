import { isGone, listingFreshness } from './listing.ts';
import { poolMemory } from './memory.ts';
import type { Pod, PodStateName } from './pod-state.ts';
import type { PodView } from './pod-view.ts';
import { ceilingUsdPerHour } from './pool-settings.ts';
import { lostAfterMs, OUTCOMES } from './probe.ts';
import { checkIntervalMs } from './watch.ts';

/** A paid call that has not returned by then is looked up. */
const CREATE_TIMEOUT_MS = 60_000;
/** Until then a worker may not have read that the pod drains. A stopping cluster takes no pages, so nothing can come. */
const DRAIN_SETTLE_MS = 5_000;
const ASK_AGAIN_FIRST_MS = 30_000;
const ASK_AGAIN_LONGEST_MS = 300_000;

type Row<B extends string> = readonly [bucket: B, when: (view: PodView) => boolean];

/**
 * What a pod is now, read from listing, probes and reports: the first row that holds. A bucket names the situation; what
 * follows from it stands in `decide-life.ts` and `decide-quarantine.ts`.
 */
const ROWS = [
  // Over, and its place in the registry is free.
  row('over', (v) => v.pod.state === 'terminated'),
  // Two complete listings no longer show it, and it has not answered since.
  row('gone', (v) => isGone(v.pod, v.pass.world.listing, v.nowMs) && !answeredSinceListing(v)),
  // The paid call's pod turned up in the listing.
  row('found', (v) => v.pod.state === 'renting' && v.entry !== null),
  // The paid call did not tell, and it is time to look the name up again.
  row('look-up', isLookUpDue),
  row('renting', isIn('renting')),
  // The listing shows it for the first time, or elsewhere, or at another price.
  row('shown', isNewsOfListing),

  // We asked to end it, and it is still there.
  row('ask-again', isAskAgainDue),
  row('terminating', isIn('terminating')),
  // It exists and runs nothing.
  row('exited', isExited),
  // No page is on it any more, or its time is up.
  row('drained', isDrained),
  row('draining', isIn('draining')),

  row('pool-unknown', (v) => v.settings === null),
  // Dearer than the operator allows.
  row('overpriced', isOverpriced),
  // The provider would end it at its greatest age, with the pages on it.
  row('too-old', isTooOld),
  // A question without a result, or whose result says nothing about the pod.
  row('unasked', (v) => verdict(v) === 'nothing' || (v.result === null && wasLost(v))),

  row('up', isUp),
  // It says itself that it never will be.
  row('boot-hopeless', (v) => v.pod.state === 'booting' && v.result?.outcome === 'unfit'),
  row('boot-silent', (v) => v.pod.state === 'booting' && v.result !== null),
  row('boot-late', (v) => v.pod.state === 'booting' && v.nowMs >= v.pod.deadlineMs),
  row('boot-probe-due', (v) => v.pod.state === 'booting' && v.pod.url !== null && isProbeDue(v)),
  row('booting', isIn('booting')),

  // A refusing pod comes back by a trial page only.
  row('trial-read', (v) => isRefusing(v) && v.result?.outcome === 'page-read'),
  row('trial-unanswered', (v) => isRefusing(v) && verdict(v) === 'failure'),
  row('trial-refused', (v) => isRefusing(v) && v.result !== null),
  row('trial-due', (v) => isRefusing(v) && isProbeDue(v)),
  row('refusing', isRefusing),

  // An unreachable one by any answer.
  row(
    'answered',
    (v) => v.pod.state === 'quarantined' && (verdict(v) === 'answer' || v.provenMs > v.pod.sinceMs),
  ),
  row('probe-failed', (v) => v.pod.state === 'quarantined' && v.result !== null),
  row('probe-due', (v) => v.pod.state === 'quarantined' && isProbeDue(v)),
  row('unreachable', isIn('quarantined')),

  // A worker could not reach it, or was refused.
  row('accused', (v) => v.pod.state === 'serving' && v.news.length > 0),
  row('first-page-crowded', (v) => v.pod.state === 'serving' && isUntriedInTime(v) && !isKnownIdle(v)),
  row('first-page-refused', (v) => v.pod.state === 'serving' && isFailedTrial(v)),
  row('check-failed', (v) => v.pod.state === 'serving' && verdict(v) === 'failure'),
  row('check-answered', (v) => v.pod.state === 'serving' && v.result !== null),
  // No pod of its configuration has read a page yet, so we send one.
  row('first-page-due', isFirstPageDue),
  row('check-due', isCheckDue),
  row('serving', isIn('serving')),
] as const satisfies readonly Row<string>[];

export type Bucket = (typeof ROWS)[number][0];

export function classify(view: PodView): Bucket {
  const found = ROWS.find(([, when]) => when(view));
  // Every state's last row holds for the whole state, so that only an impossible state could fall through.
  return found === undefined ? 'over' : found[0];
}

/** When a terminating pod that is still there is asked to end again. */
export function nextAskMs(pod: Extract<Pod, { state: 'terminating' }>): number {
  return pod.askedAtMs + Math.min(ASK_AGAIN_FIRST_MS * 2 ** (pod.asks - 1), ASK_AGAIN_LONGEST_MS);
}

/** When a draining pod without work may be ended. */
export function settledMs(pod: Extract<Pod, { state: 'draining' }>, isStopping: boolean): number {
  return isStopping ? pod.sinceMs : pod.sinceMs + DRAIN_SETTLE_MS;
}

/** When a paid call is looked up. */
export function lookUpMs(pod: Extract<Pod, { state: 'renting' }>): number {
  return pod.answer === 'ambiguous'
    ? pod.nextLookMs
    : Math.max(pod.nextLookMs, pod.sinceMs + CREATE_TIMEOUT_MS);
}

function row<B extends string>(bucket: B, when: (view: PodView) => boolean): Row<B> {
  return [bucket, when];
}

function isIn(state: PodStateName): (view: PodView) => boolean {
  return (view) => view.pod.state === state;
}

function verdict(view: PodView): 'answer' | 'failure' | 'nothing' | null {
  return view.result === null ? null : OUTCOMES[view.result.outcome].verdict;
}

function isRefusing(view: PodView): boolean {
  return view.pod.state === 'quarantined' && view.pod.reason === 'refusing';
}

function isProbeDue({ pod, nowMs }: PodView): boolean {
  return 'asked' in pod && pod.asked === null && nowMs >= pod.nextProbeMs;
}

function isCheckDue(view: PodView): boolean {
  const { pod, nowMs, provenMs, pass } = view;
  return pod.state === 'serving' && isProbeDue(view) && nowMs >= provenMs + checkIntervalMs(pass.world.watch);
}

function wasLost({ pod, nowMs, pass }: PodView): boolean {
  return 'asked' in pod && pod.asked !== null && nowMs > lostAfterMs(pod.asked, pass.world.watch);
}

/** A pod that answers is not gone, whatever the listing says. */
function answeredSinceListing({ pass, provenMs }: PodView): boolean {
  return provenMs > (pass.world.listing.newest?.startedAtMs ?? 0);
}

function isLookUpDue({ pod, nowMs }: PodView): boolean {
  return pod.state === 'renting' && nowMs >= lookUpMs(pod);
}

function isNewsOfListing({ pod, entry }: PodView): boolean {
  if (entry === null) return false;
  if (pod.shownAtMs === null) return true;
  if (entry.url !== null && entry.url !== pod.url) return true;
  return entry.priceUsdPerHour !== null && entry.priceUsdPerHour !== pod.priceUsdPerHour;
}

function isAskAgainDue(view: PodView): boolean {
  const { pod, entry, nowMs, pass } = view;
  if (pod.state !== 'terminating' || nowMs < nextAskMs(pod)) return false;
  return entry !== null || listingFreshness(pass.world.listing, nowMs) !== 'fresh' || pod.shownAtMs === null;
}

/** Idle needs every worker's word; the deadline lies above the page's, so that nothing can run past it. */
function isDrained({ pod, report, nowMs, pass }: PodView): boolean {
  if (pod.state !== 'draining') return false;
  if (nowMs >= pod.deadlineMs) return true;
  const { reports, stopping } = pass.world;
  if (reports === null || nowMs < settledMs(pod, stopping)) return false;
  // While stopping, no worker left to ask is proof enough; before, it only means that none has spoken yet.
  const isHeard = reports.complete || (stopping && reports.stale.length === 0);
  return isHeard && (report?.inflight ?? 0) === 0;
}

function isExited(view: PodView): boolean {
  const { pod, entry, pass, nowMs } = view;
  const { newest } = pass.world.listing;
  if (entry === null || entry.status !== 'exited' || newest === null || pod.state === 'terminated')
    return false;
  if (listingFreshness(pass.world.listing, nowMs) !== 'fresh') return false;
  return newest.startedAtMs > sinceMs(pod) && newest.startedAtMs > view.provenMs;
}

function sinceMs(pod: Exclude<Pod, { state: 'terminated' }>): number {
  return pod.sinceMs;
}

/** Early enough to finish its pages, and for another one to boot. */
function isTooOld({ pod, settings, nowMs }: PodView): boolean {
  if (settings?.maxAgeMs == null || (pod.state !== 'serving' && pod.state !== 'quarantined')) return false;
  return nowMs - pod.createdAtMs >= settings.maxAgeMs - settings.graceMs - settings.bootEstimateMs;
}

function isOverpriced({ pod, settings }: PodView): boolean {
  const ceiling = settings === null ? null : ceilingUsdPerHour(settings, pod.offer?.card ?? null);
  return ceiling !== null && pod.priceUsdPerHour !== null && pod.priceUsdPerHour > ceiling + 1e-9;
}

/**
 * Ready is the answer to a probe of ours, whichever asked, or a page that a worker got from it; never the listing's word
 * (R-038).
 */
function isUp({ pod, pass, report }: PodView): boolean {
  if (pod.state !== 'booting' || pod.url === null) return false;
  const newest = pass.world.probes.get(pod.key);
  if (newest !== undefined && newest.endedAtMs > pod.sinceMs && OUTCOMES[newest.outcome].serves) return true;
  return (report?.lastGoodMs ?? 0) > pod.sinceMs;
}

/** The first page of a configuration failed on a pod that can be reached: it is not fit to serve. */
function isFailedTrial({ result }: PodView): boolean {
  if (result === null || result.purpose !== 'trial') return false;
  return result.outcome === 'page-refused' || result.outcome === 'starting' || isUntriedInTime({ result });
}

function isUntriedInTime({ result }: Pick<PodView, 'result'>): boolean {
  return result?.purpose === 'trial' && result.outcome === 'timeout';
}

/** No page of a client was or is on it since we asked: one that reads them is slow with ours, not unfit. */
function isKnownIdle({ pass, report, result }: PodView): boolean {
  if (pass.world.reports?.complete !== true) return false;
  return (report?.inflight ?? 0) === 0 && (report?.lastGoodMs ?? 0) <= (result?.askedAtMs ?? 0);
}

function isFirstPageDue(view: PodView): boolean {
  const { pod, pass } = view;
  if (pod.state !== 'serving' || !isProbeDue(view)) return false;
  if (poolMemory(pass.world.memory, pod.pool).provenHashes.includes(pod.configHash)) return false;
  if ((view.report?.good ?? 0) > 0) return false;
  return ![...pass.registry.values()].some(
    (p) => p.state === 'serving' && isSameKind(p, pod) && p.asked?.purpose === 'trial',
  );
}

function isSameKind(a: Pod, b: Pod): boolean {
  return a.pool === b.pool && a.configHash === b.configHash;
}
