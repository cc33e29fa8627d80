interface OrderedSlice {
  readonly epoch: number;
  readonly rev: number;
  readonly pods: ReadonlyArray<{ readonly id: string; readonly width: number }>;
}

/** The worker's two clauses of the hand-over rule, a table for the same reason as `HandOverRules`. */
export interface AdoptRules {
  readonly isNewer: (slice: OrderedSlice, held: OrderedSlice) => boolean;
  readonly widthInNewEpoch: (width: number, heldWidth: number) => number;
}

export const ADOPT_RULES: AdoptRules = {
  isNewer: (slice, held) => slice.epoch > held.epoch || (slice.epoch === held.epoch && slice.rev > held.rev),
  widthInNewEpoch: (width, heldWidth) => Math.min(width, heldWidth),
};

/**
 * The slice in force after `slice` arrived, or undefined when it is not newer than the one held. The first of an epoch
 * never makes a width grow: its controller does not know yet what others hold. A worker starts with the epoch that the
 * bucket `control` names, rev 0 and no pods.
 */
export function adoptSlice<S extends OrderedSlice>(
  held: OrderedSlice,
  slice: S,
  rules: AdoptRules = ADOPT_RULES,
): S | undefined {
  if (!rules.isNewer(slice, held)) return undefined;
  if (slice.epoch === held.epoch) return slice;
  const heldWidth = new Map(held.pods.map((pod) => [pod.id, pod.width]));
  return {
    ...slice,
    pods: slice.pods.map((pod) => ({
      ...pod,
      width: rules.widthInNewEpoch(pod.width, heldWidth.get(pod.id) ?? 0),
    })),
  };
}
