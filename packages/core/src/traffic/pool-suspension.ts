const WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 300_000;
const LEAST_PODS = 2;

/** A pod refused a page. Refusals of pages that were parked since are left out by the caller: they blame the page. */
export interface Refusal {
  readonly podId: string;
  /** undefined: a request that is a document of its own */
  readonly document: string | undefined;
  readonly atMs: number;
}

export interface PoolSuspension {
  /** the pool takes no pages until then; 0 = never suspended */
  readonly untilMs: number;
  /** length of that pause; 0 = never suspended */
  readonly pauseMs: number;
}

export interface PoolSuspensionInput {
  readonly refusals: readonly Refusal[];
  readonly servingPods: number;
  readonly previous: PoolSuspension;
  readonly nowMs: number;
}

/**
 * within 60 s at least half of the serving pods, and at least two, refused pages of different documents. Then the
 * pool rests 30 s, doubling to 300 s; a pool that did well for as long as the longest pause starts anew.
 */
export function decidePoolSuspension(input: PoolSuspensionInput): PoolSuspension {
  const { refusals, servingPods, previous, nowMs } = input;
  if (nowMs < previous.untilMs) return previous;
  const sinceMs = Math.max(nowMs - WINDOW_MS, previous.untilMs);
  const recent = refusals.filter(({ atMs }) => atMs >= sinceMs && atMs <= nowMs);
  const threshold = Math.max(LEAST_PODS, Math.ceil(servingPods / 2));
  if (countPods(recent, Math.ceil(threshold / 2)) < threshold) return previous;
  const isRelapse = previous.pauseMs > 0 && nowMs - previous.untilMs < LONGEST_PAUSE_MS;
  const pauseMs = isRelapse ? Math.min(LONGEST_PAUSE_MS, 2 * previous.pauseMs) : FIRST_PAUSE_MS;
  return { untilMs: nowMs + pauseMs, pauseMs };
}

/**
 * The most pods that can each be given a document they refused, with at most `podsPerDocument` pods to a document: one bad
 * document alone never reaches the threshold, two long ones read by a large pool do (augmenting paths).
 */
function countPods(refusals: readonly Refusal[], podsPerDocument: number): number {
  const documentsOf = new Map<string, Set<string>>();
  refusals.forEach(({ podId, document }, index) => {
    const name = document === undefined ? `request ${index}` : `document ${document}`;
    documentsOf.set(podId, (documentsOf.get(podId) ?? new Set()).add(name));
  });
  const podsOf = new Map<string, string[]>();

  const place = (podId: string, tried: Set<string>): boolean => {
    for (const document of documentsOf.get(podId) ?? []) {
      if (tried.has(document)) continue;
      tried.add(document);
      const pods = podsOf.get(document) ?? [];
      if (pods.length < podsPerDocument) {
        podsOf.set(document, [...pods, podId]);
        return true;
      }
      const moved = pods.find((other) => place(other, tried));
      if (moved === undefined) continue;
      const left = (podsOf.get(document) ?? []).filter((other) => other !== moved);
      podsOf.set(document, [...left, podId]);
      return true;
    }
    return false;
  };
  return [...documentsOf.keys()].filter((podId) => place(podId, new Set())).length;
}
