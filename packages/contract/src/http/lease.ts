/** `POST /v1/fleet/scale`, also `/v1/runpod/scale`: takes, renews or releases a lease. Strict. */
export interface ScaleRequest {
  /** needed where there are several pools */
  pool?: string;
  /** pods to keep ready; 0 alone releases the lease */
  pods?: number;
  /** pods never to exceed; null lifts it */
  max_pods?: number | null;
  /** cards that may be rented; null lifts the list */
  gpu_types?: string[] | null;
  /** `fleet`: pages of this key are read by this pool or refused, never by its fallback */
  require?: 'fleet' | null;
  /** 900 when absent */
  ttl_s?: number;
  /** id of the lease to renew; absent: the caller's own of this pool and name, or a new one */
  lease?: string;
  /** tells several leases of one key in one pool apart */
  name?: string;
}

/** One lease, as its holder and operators see it. */
export interface LeaseStatus {
  lease: string;
  /** name of the API key that holds it */
  owner: string;
  name: string;
  pool: string;
  pods: number;
  max_pods: number | null;
  gpu_types: string[] | null;
  require: 'fleet' | null;
  /** of the half that lasts longer */
  expires_in_s: number;
  /** of each half; null = it has none */
  pods_expire_in_s: number | null;
  max_pods_expire_in_s: number | null;
}

export interface ScaleReply extends Omit<LeaseStatus, 'lease'> {
  /** null = there is none (any more) */
  lease: string | null;
  released: boolean;
  /** what holds for the pool now, all limits and leases taken together */
  effective_pods: number;
  effective_max_pods: number;
  /** which limit makes it so */
  binding: string;
  /** what was clamped or could not be given, in sentences */
  notes: string[];
}
