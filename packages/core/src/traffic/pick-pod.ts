/** `trial`: set aside, but one page may show whether it works again; `out`: gets no page now. */
export type PodHealth = 'good' | 'trial' | 'out';

/** A pod of the slice, of the page's pool, as the worker knows it at this moment. */
export interface PickablePod {
  readonly id: string;
  readonly width: number;
  readonly inflight: number;
  readonly mode: 'serve' | 'drain';
  readonly health: PodHealth;
}

export interface PickOptions {
  /** pods on which a reading of this page failed before */
  readonly exclude: ReadonlySet<string>;
  /** a number that counts up with every pick, so that equal pods share */
  readonly turn: number;
}

export type PodPick =
  | { readonly kind: 'pod'; readonly id: string; readonly trial: boolean }
  /** nothing to send to now: wait for a slot, a slice or a trial */
  | { readonly kind: 'wait' };

const WAIT: PodPick = { kind: 'wait' };

/**
 * The least loaded pod that may take this page. A pod that fails fast looks idle; it attracts nothing because suspects are
 * out and a page never returns to a pod that failed it, unless the slice has no other.
 */
export function pickPod(pods: readonly PickablePod[], { exclude, turn }: PickOptions): PodPick {
  const serving = pods.filter((pod) => pod.mode === 'serve' && pod.width > 0);
  const fresh = serving.filter((pod) => !exclude.has(pod.id));
  const allowed = fresh.length > 0 ? fresh : serving;
  const free = allowed.filter((pod) => pod.inflight < pod.width);

  const trial = free.find((pod) => pod.health === 'trial');
  if (trial && mayBeTrialPage(allowed, exclude)) return { kind: 'pod', id: trial.id, trial: true };

  const best = leastLoaded(free.filter((pod) => pod.health === 'good'));
  const chosen = best[turn % Math.max(1, best.length)];
  return chosen === undefined ? WAIT : { kind: 'pod', id: chosen.id, trial: false };
}

/** A page that failed once is not spent on a trial while a healthy pod can read it. */
function mayBeTrialPage(allowed: readonly PickablePod[], exclude: ReadonlySet<string>): boolean {
  return exclude.size === 0 || !allowed.some((pod) => pod.health === 'good');
}

function leastLoaded(pods: readonly PickablePod[]): PickablePod[] {
  let best: PickablePod[] = [];
  for (const pod of pods) {
    const order = best[0] === undefined ? -1 : compareLoad(pod, best[0]);
    if (order < 0) best = [pod];
    else if (order === 0) best.push(pod);
  }
  return best;
}

function compareLoad(a: PickablePod, b: PickablePod): number {
  return a.inflight * b.width - b.inflight * a.width || a.inflight - b.inflight;
}
