/** What the answer to a create is; `created-…` rents the pod first and hides that. */
export const CREATE_ANSWERS = [
  'normal',
  /** GraphQL: HTTP 200 with code SUPPLY_CONSTRAINT; the REST APIs: their own refusal */
  'supply-constraint',
  /** GraphQL: null without an `errors` array; the REST APIs: their own refusal */
  'bare-null',
  'server-error',
  'cut',
  'created-then-500',
  'created-then-cut',
  /** GraphQL: HTTP 200, code INTERNAL_SERVER_ERROR; elsewhere a 500 */
  'created-then-internal-error',
  'created-then-null',
] as const;
type CreateAnswer = (typeof CREATE_ANSWERS)[number];

/** How one pod behaves. Fixed when it is created; times are of the fake's clock. */
export interface PodKnobs {
  answer: CreateAnswer;
  /** the answer to the create comes so much later; the pod exists, and bills, from the beginning */
  answerDelayMs: number;
  /** neither listed nor found for so long after the create; an end asked for meanwhile answers 404 and does nothing */
  invisibleMs: number;
  /** for the whole pod; null = as the catalogue says */
  chargedUsdPerHour: number | null;
  /** `runtime` is null for so long */
  bootMs: number;
  /** between the port's appearance in `runtime` and the first connection that is taken */
  listenerDelayMs: number;
  neverBoots: boolean;
  /** the container dies so long after it came up; the status stays RUNNING, `runtime` goes null, it bills on */
  containerExitsAfterMs: number | null;
  /** so long after the create: EXITED with a null `runtime` */
  exitedAfterMs: number | null;
  outbidAfterMs: number | null;
  /** what an outbid pod looks like afterwards */
  outbidLook: 'exited' | 'terminated' | 'vanished';
  /** the next so many reads of a running pod show a null `runtime` */
  nullRuntimeReads: number;
  /** `kept`: accepted, and the pod runs on; `fails`: 500 and the pod runs on; `ends-then-fails`: 500, and it is gone */
  terminate: 'works' | 'kept' | 'fails' | 'ends-then-fails';
  /** false: nothing listens, so that thousands of pods cost no socket */
  listen: boolean;
  /** v2 says PROVISIONING and STARTING while it boots, as its description promises, and not RUNNING, as was seen */
  honestStatus: boolean;
}

export interface QuotaSizes {
  minute: number;
  hour: number;
  day: number;
}

/** A fault that the next calls meet, whatever they ask. */
export interface CallFault {
  api: ApiName;
  /** as in the request counts: `podTerminate`, `GET /pods/{id}`; left out = any */
  operation?: string;
  /** left out = 1 */
  times?: number;
  /** the fault comes after the call was carried out */
  afterwards?: boolean;
  delayMs?: number;
  /** no answer at all: the connection is cut */
  cut?: boolean;
  status?: number;
  /** text is sent as HTML, anything else as JSON; left out = an HTML page of the status */
  body?: unknown;
  headers?: Record<string, string>;
}

export type ApiName = 'graphql' | 'v2' | 'v1' | 'invoke';

/** How the service as a whole behaves. */
export interface ServiceKnobs {
  /** pods that no entry of `nextCreates` is for */
  pod: PodKnobs;
  v1: 'alive' | 'retired';
  /** without a User-Agent: 403 "error code: 1010" */
  requireUserAgent: boolean;
  quotas: { graphql: QuotaSizes; v2: QuotaSizes };
  /** false: the v2 caller is exempt, no quota and no RateLimit headers */
  v2RateLimited: boolean;
  /** the Retry-After header of a GraphQL 429, when it differs from the seconds in its body */
  graphqlRetryAfterHeaderSeconds: number | null;
  /** no v2 page holds more than so many, whatever `limit` says */
  maxPageSize: number;
  omitPagination: boolean;
  /** null entries in GraphQL lists */
  nullEntries: boolean;
  /** fields that nobody knows in REST answers */
  unknownFields: boolean;
  /** `mounts.global` of a v2 create; off: 422 */
  mountsGlobal: boolean;
  /** `objectMounts` of a GraphQL create; off: the field is not defined */
  objectMounts: boolean;
  /** the internal http entry among the ports of a v2 pod */
  internalPort: boolean;
  /** a stopped pod goes on showing its old `runtime` */
  staleRuntime: boolean;
  proxyTimeoutMs: number;
  proxyClosed: 502 | 404;
  /** null = unbounded; a create at or below 0 is refused */
  balanceUsd: number | null;
  spendLimitUsdPerHour: number;
  maxServerlessWorkers: number;
  /** how long a serverless job takes */
  jobMs: number;
  /** a fresh endpoint answers 404 for so long */
  endpointPropagationMs: number;
}

const DEFAULT_POD_KNOBS: PodKnobs = {
  answer: 'normal',
  answerDelayMs: 0,
  invisibleMs: 0,
  chargedUsdPerHour: null,
  bootMs: 700_000,
  listenerDelayMs: 10_000,
  neverBoots: false,
  containerExitsAfterMs: null,
  exitedAfterMs: null,
  outbidAfterMs: null,
  outbidLook: 'exited',
  nullRuntimeReads: 0,
  terminate: 'works',
  listen: true,
  honestStatus: false,
};

export function defaultKnobs(): ServiceKnobs {
  return {
    pod: { ...DEFAULT_POD_KNOBS },
    v1: 'alive',
    requireUserAgent: true,
    quotas: {
      graphql: { minute: 180, hour: 3_600, day: 43_200 },
      v2: { minute: 180, hour: 7_200, day: 86_400 },
    },
    v2RateLimited: true,
    graphqlRetryAfterHeaderSeconds: null,
    maxPageSize: 1_000,
    omitPagination: false,
    nullEntries: false,
    unknownFields: false,
    mountsGlobal: true,
    objectMounts: true,
    internalPort: true,
    staleRuntime: false,
    proxyTimeoutMs: 100_000,
    proxyClosed: 502,
    balanceUsd: null,
    spendLimitUsdPerHour: 80,
    maxServerlessWorkers: 5,
    jobMs: 1_000,
    endpointPropagationMs: 0,
  };
}

export type DeepPartial<T> = { [K in keyof T]?: T[K] extends object ? DeepPartial<T[K]> : T[K] };

/** Sets what is given and keeps the rest. A name that is no knob is refused: a misspelt one would test nothing. */
export function changeKnobs<T extends object>(knobs: T, changes: DeepPartial<T>, at = ''): void {
  const known = knobs as Record<string, unknown>;
  for (const [name, value] of Object.entries(changes)) {
    const before = known[name];
    if (!Object.hasOwn(known, name)) throw new Error(`there is no knob ${at}${name}`);
    if (value === undefined) continue;
    if (isRecord(before)) {
      if (!isRecord(value)) throw new Error(`the knob ${at}${name} is a group`);
      changeKnobs(before, value, `${at}${name}.`);
    } else if (before !== null && value !== null && typeof before !== typeof value) {
      throw new Error(`the knob ${at}${name} is a ${typeof before}`);
    } else {
      known[name] = value;
    }
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
