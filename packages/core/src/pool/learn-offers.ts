import type { PoolMemory } from './memory.ts';
import { offerName } from './offer.ts';
import type { Pass, PodChange } from './pass.ts';
import { isFailureToBoot, type Pod } from './pod-state.ts';
import { reportOf } from './pod-view.ts';
import { setAside, takeBack } from './set-aside.ts';

/** A pod this full shows what its card can do; an idle one only what it is asked. */
const BUSY = 0.8;
/** of the newest measurement in the mean, so that a change shows within some ten passes */
const WEIGHT = 0.1;

interface Lesson {
  readonly pods: readonly Pod[];
  readonly changes: readonly PodChange[];
  readonly forgotten: readonly Pod[];
  readonly pass: Pass;
}

/** A refusal, a boot that failed and a bill above the ceiling set the offer aside; a boot that came up takes it back. */
export function learnOffers(memory: PoolMemory, { pods, changes, forgotten, pass }: Lesson): PoolMemory {
  const { nowMs } = pass.world;
  let book = memory.setAside;
  for (const pod of forgotten) {
    if (pod.state !== 'terminated' || pod.offer === null) continue;
    if (pod.why === 'refused' && pod.fault === 'no-capacity')
      book = setAside(book, offerName(pod.offer), nowMs);
  }
  for (const { before, after } of changes) {
    if (after.offer === null || before.state === after.state) continue;
    if (before.state === 'booting' && after.state === 'serving')
      book = takeBack(book, offerName(after.offer));
    if (hasFailed(before, after)) book = setAside(book, offerName(after.offer), nowMs);
  }
  return { ...memory, setAside: book, cardRates: measure(memory.cardRates, pods, pass) };
}

function hasFailed(before: Pod, after: Pod): boolean {
  if (!('why' in after) || 'why' in before) return false;
  if (after.why === 'overpriced') return true;
  return before.state === 'booting' && before.origin === 'rented' && isFailureToBoot(after.why);
}

function measure(rates: PoolMemory['cardRates'], pods: readonly Pod[], pass: Pass): PoolMemory['cardRates'] {
  const next: Record<string, number> = { ...rates };
  for (const pod of pods) {
    const report = reportOf(pod, pass.world);
    if (pod.state !== 'serving' || pod.offer === null || report === null) continue;
    if (report.inflight < pod.width * BUSY || report.pagesPerSecond <= 0) continue;
    const { card } = pod.offer;
    const known = next[card];
    next[card] =
      known === undefined ? report.pagesPerSecond : known + WEIGHT * (report.pagesPerSecond - known);
  }
  return next;
}
