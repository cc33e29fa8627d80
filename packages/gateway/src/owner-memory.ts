export interface OwnerMemory {
  /** A request with the pod's token. False: it comes from another owner than the one heard last, who is not silent yet. */
  hear(owner: string): boolean;
  /** A request that proves the token and names no owner: a probe, or the end of a page. */
  hearAgain(): void;
  /** True once nobody was heard for the dead-man time. */
  isAbandoned(): boolean;
  silentMs(): number;
}

/** Who rents this pod, on monotonic time. The renter counts as heard when the pod starts. */
export function createOwnerMemory(renter: string, deadManMs: number, monotonicMs: () => number): OwnerMemory {
  let owner = renter;
  let heardAtMs = monotonicMs();

  const silentMs = (): number => monotonicMs() - heardAtMs;
  const isAbandoned = (): boolean => silentMs() >= deadManMs;

  return {
    hear(speaker) {
      if (speaker !== owner && !isAbandoned()) return false;
      owner = speaker;
      heardAtMs = monotonicMs();
      return true;
    },
    hearAgain() {
      heardAtMs = monotonicMs();
    },
    isAbandoned,
    silentMs,
  };
}
