import type { PodMark, PodSettings } from '@pagefleet/contract';
import type { Offer, OfferBook, RefusalFault } from '@pagefleet/core';

/** Where pods come from. Every implementation passes `test/conformance/provider.ts`. */
export interface Provider {
  /** Renting costs nothing, so no budget is needed. */
  readonly free: boolean;
  /**
   * Once a rent is over, or whoever asked for it is dead, a listing without its pod proves that none was rented and none
   * will be. A cloud may still carry out what it was asked minutes ago.
   */
  readonly listingProvesAbsence: boolean;
  /**
   * What may be rented, at which price. null: whatever is asked for, for nothing (a free provider). Served from a copy
   * while the provider does not answer; throws `provider_failed` when there is none.
   */
  offers(): Promise<OfferBook | null>;
  /**
   * Asks for one pod. `refused` = nothing was rented. `ambiguous` = perhaps something was: only listings that show or
   * lack the mark's name can tell, never another rent. Does not throw.
   */
  rent(request: RentRequest): Promise<RentOutcome>;
  /**
   * Every pod of the account that exists, from the moment it was asked for until it is gone. Complete, or throws
   * `provider_failed`: a short list would be taken for pods that are gone (law L5).
   */
  list(): Promise<ListedPod[]>;
  /**
   * Asks for the end of a pod and resolves when that was asked; a pod that is gone or never was is a success, which is
   * said: `absent` ended nothing, so it tells nobody how long the pod has billed. Gone is what two listings say. May be
   * asked again and by several processes at once. Throws `provider_failed`.
   */
  terminate(id: string): Promise<'absent' | undefined>;
  /** Budgets, rates and bans of the provider's APIs, for status. Answers from memory. */
  usage(): readonly ApiUsage[];
  /** What the provider billed for its pods since `fromMs`, as far as it says; null: it keeps no such record. */
  billed(fromMs: number): Promise<readonly BilledPod[] | null>;
  close(): Promise<void>;
}

export interface RentRequest {
  /** what a listing gives back; `mark.name` is unique for every attempt */
  readonly mark: PodMark;
  /** the rest of what the pod is told, its token included */
  readonly settings: Omit<PodSettings, keyof PodMark | 'podId' | 'portFile'>;
  /** null where nothing is chosen, because nothing costs anything */
  readonly machine: RentedMachine | null;
}

/** Which machine is to be rented, and under which conditions. */
export interface RentedMachine {
  readonly offer: Offer;
  /** of spot, per GPU and hour; never below the floor of the offer. null: on-demand */
  readonly bidUsdPerGpuHour: number | null;
  readonly image: string;
  /** program of the container; empty: the image's own. No secret is in either: a listing shows them */
  readonly entrypoint: readonly string[];
  /** its arguments, or the whole command where the image has no program; empty: the image's own */
  readonly startCommand: readonly string[];
  /** `NAME=value`, beside the pod's settings; a listing shows them, so no secret is in them */
  readonly env: readonly string[];
  readonly diskGb: number;
  /** `12.8`; null: any */
  readonly minCuda: string | null;
  readonly minVcpu: number;
  readonly minMemoryGb: number;
  /** tried first, in the secure cloud only; empty: anywhere */
  readonly dataCenters: readonly string[];
  readonly networkVolume: string | null;
  /** left out where the provider refuses it */
  readonly globalVolume: string | null;
  readonly volumePath: string;
  readonly registryAuth: string | null;
  readonly transport: 'tls-psk' | 'plain-tcp' | 'proxy';
  /** the provider ends the pod then, where it can */
  readonly endsAtMs: number;
}

export type RentOutcome =
  | { readonly kind: 'rented'; readonly pod: ListedPod }
  | { readonly kind: 'refused'; readonly fault: RefusalFault; readonly reason: string }
  | { readonly kind: 'ambiguous'; readonly cause: unknown };

export interface ListedPod {
  readonly id: string;
  readonly name: string;
  /** null: not a pod that describes itself, so not one of ours */
  readonly mark: PodMark | null;
  /**
   * `http://host:port`, `psk://host:port` (TLS with a key made from the pod's token) or `https://…`. null until it is
   * known; says nothing about whether anyone listens there
   */
  readonly url: string | null;
  readonly createdAtMs: number;
  /** null = the provider does not say; 0 = free */
  readonly priceUsdPerHour: number | null;
  /** `exited`: it exists, may bill, and runs nothing. Whether a running one serves, only a probe says */
  readonly status: 'starting' | 'running' | 'exited';
  /** what it was rented as, where the provider says so */
  readonly card: string | null;
  readonly cloud: 'secure' | 'community' | null;
  /** the provider's own words for its state, for people */
  readonly detail: string;
}

/** One API of the provider's, as it stands. */
export interface ApiUsage {
  readonly api: string;
  readonly callsLastHour: number;
  /** null = none */
  readonly hourlyBudget: number | null;
  readonly overBudget: boolean;
  /** nothing is sent before that; null = not banned */
  readonly bannedUntilMs: number | null;
  /** what is left of each window, as the API said last */
  readonly windows: readonly {
    readonly window: 'minute' | 'hour' | 'day';
    readonly limit: number | null;
    readonly remaining: number;
  }[];
}

export interface BilledPod {
  readonly podId: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly usd: number;
}
