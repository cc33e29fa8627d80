import type { PodMark, PodSettings } from '@pagefleet/contract';

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
   * Asks for the end of a pod and resolves when that was asked; a pod that is gone or never was is a success. Gone is
   * what two listings say. May be asked again and by several processes at once. Throws `provider_failed`.
   */
  terminate(id: string): Promise<void>;
}

export interface RentRequest {
  /** what a listing gives back; `mark.name` is unique for every attempt */
  readonly mark: PodMark;
  /** the rest of what the pod is told, its token included */
  readonly settings: Omit<PodSettings, keyof PodMark | 'podId' | 'portFile'>;
}

export type RentOutcome =
  | { readonly kind: 'rented'; readonly pod: ListedPod }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'ambiguous'; readonly cause: unknown };

export interface ListedPod {
  readonly id: string;
  readonly name: string;
  /** null: not a pod that describes itself, so not one of ours */
  readonly mark: PodMark | null;
  /** null until it is known; says nothing about whether anyone listens there */
  readonly address: { readonly host: string; readonly port: number } | null;
  readonly createdAtMs: number;
  /** null = the provider does not say; 0 = free */
  readonly priceUsdPerHour: number | null;
  /** the provider says that it runs; whether it serves, only a probe says */
  readonly running: boolean;
  /** the provider's own words for its state, for people */
  readonly detail: string;
}
