import { setTimeout as sleep } from 'node:timers/promises';
import type { PodSettings } from '@pagefleet/contract';
import { type Logger, monotonicMs } from '@pagefleet/runtime';

/** The pod's way out of its provider's account; a process that merely exits is started again and billed on. */
export interface SelfRemoval {
  /** Why the pod cannot remove itself, for people; null: it can. */
  readonly hindrance: string | null;
  /** Asks until the provider says that the pod is gone, or ends it in the meantime. */
  run(): Promise<void>;
}

export interface RemovalOptions {
  readonly settings: Pick<PodSettings, 'podId' | 'apiUrl' | 'graphqlUrl'>;
  /** what RunPod gives a container: it can end that pod and nothing else. Never logged */
  readonly apiKey: string | undefined;
  readonly logger: Logger;
  readonly nowMs?: () => number;
  readonly pause?: (ms: number) => Promise<unknown>;
}

/**
 * `asked`: it was accepted, which is no end yet. `refused`: an answer, and not that. `unheard`: no answer that says
 * anything, or none may be asked for.
 */
type Said = 'gone' | 'asked' | 'refused' | 'unheard';

/** A request to one API, and what its answer says. */
interface Api {
  readonly url: string;
  readonly init: RequestInit;
  read(status: number, body: string): Said;
}

const API_URL = 'https://api.runpod.io/v2';
const GRAPHQL_URL = 'https://api.runpod.io/graphql';
/** without one the provider's edge answers 403 */
const USER_AGENT = 'pagefleet-pod/1';
const ANSWER_MS = 30_000;
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;
/** What was accepted so often and left us running is asked for the other way as well. */
const TRUSTED_ROUNDS = 3;

export function createSelfRemoval(options: RemovalOptions): SelfRemoval {
  const { apiKey = '', logger, nowMs = monotonicMs, pause = sleep } = options;
  const rest = createCaller(restApi(options.settings, apiKey), nowMs);
  const graphql = createCaller(graphqlApi(options.settings, apiKey), nowMs);

  async function isGone(round: number): Promise<boolean> {
    const restSaid = await rest();
    if (restSaid === 'asked' && round <= TRUSTED_ROUNDS) {
      logger.warn({ round, rest: restSaid }, 'pod_removal_asked');
      return false;
    }
    const graphqlSaid = await graphql();
    logger.warn({ round, rest: restSaid, graphql: graphqlSaid }, 'pod_removal_asked');
    // A 404 may also be that of a wrong base URL, so the other API must have had its say.
    return restSaid === 'gone' && graphqlSaid !== 'unheard';
  }

  return {
    hindrance: apiKey === '' ? 'RUNPOD_API_KEY is not set, so the pod cannot remove itself' : null,
    async run() {
      let pauseMs = FIRST_PAUSE_MS;
      for (let round = 1; !(await isGone(round)); round += 1) {
        await pause(pauseMs);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
      logger.warn('pod_removed');
    },
  };
}

function restApi({ podId, apiUrl }: RemovalOptions['settings'], apiKey: string): Api {
  return {
    url: `${withoutSlash(apiUrl || API_URL)}/pods/${encodeURIComponent(podId)}`,
    init: { method: 'DELETE', headers: headersOf(apiKey) },
    read(status) {
      if (status === 404 || status === 410) return 'gone';
      return status < 300 ? 'asked' : 'refused';
    },
  };
}

function graphqlApi({ podId, graphqlUrl }: RemovalOptions['settings'], apiKey: string): Api {
  const query = `mutation { podTerminate(input: { podId: ${JSON.stringify(podId)} }) }`;
  return {
    url: graphqlUrl || GRAPHQL_URL,
    init: {
      method: 'POST',
      headers: { ...headersOf(apiKey), 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    },
    read(status, body) {
      if (status >= 300) return 'refused';
      const { errors } = JSON.parse(body) as { errors?: { extensions?: { code?: string } }[] };
      if (!errors?.length) return 'asked';
      // It may mean anything, and the pod with its key may be gone or not.
      return errors.some(({ extensions }) => extensions?.code === 'INTERNAL_SERVER_ERROR')
        ? 'unheard'
        : 'refused';
    },
  };
}

/** Sends nothing before the time that the API named last. */
function createCaller({ url, init, read }: Api, nowMs: () => number): () => Promise<Said> {
  let quietUntilMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (nowMs() < quietUntilMs) return 'unheard';
    try {
      const response = await fetch(url, {
        ...init,
        redirect: 'manual',
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      const body = await response.text();
      if (response.status === 429) quietUntilMs = nowMs() + retryAfterMs(response.headers);
      return response.status === 429 || response.status >= 500 ? 'unheard' : read(response.status, body);
    } catch {
      return 'unheard';
    }
  };
}

function headersOf(apiKey: string): Record<string, string> {
  return { authorization: `Bearer ${apiKey}`, 'user-agent': USER_AGENT };
}

function retryAfterMs(headers: Headers): number {
  const seconds = Number(headers.get('retry-after') ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 0;
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
