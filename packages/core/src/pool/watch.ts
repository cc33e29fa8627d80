/** How the operator wants pods watched. The numbers are the configuration's; core has none of its own. */
export interface WatchSettings {
  /** between the scheduled probes of an unreachable pod */
  readonly probeIntervalMs: number;
  /** of a check and of the immediate probe */
  readonly probeTimeoutMs: number;
  /** before the first trial page of a refusing pod */
  readonly trialDelayMs: number;
  /** between two listings while nothing moves, and between two sweeps for pods to adopt */
  readonly adoptionIntervalMs: number;
}

/** 5 s grow to 300 s. */
const TRIAL_GROWTH = 60;

export function longestTrialMs({ trialDelayMs }: WatchSettings): number {
  return TRIAL_GROWTH * trialDelayMs;
}

/** Well below the probe interval: by the first strike we know who else answers. */
export function checkIntervalMs({ probeIntervalMs }: WatchSettings): number {
  return Math.min(30_000, Math.max(500, (probeIntervalMs * 2) / 3));
}

/** While a pod is set aside, so that the provider's answers keep pace with the checks. */
export function carefulListingMs(watch: WatchSettings): number {
  return (checkIntervalMs(watch) * 2) / 3;
}

/** How old an answer may be that proves our own way out: longer than a check and a listing, so whoever can has been asked. */
export function evidenceWindowMs(watch: WatchSettings): number {
  return Math.max(5_000, 2 * checkIntervalMs(watch));
}
