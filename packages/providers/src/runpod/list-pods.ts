import { PagefleetError } from '@pagefleet/contract';
import type { ListedPod } from '../port.ts';
import { type ApiAnswer, type ApiName, type Clock, READ_TIMEOUT_MS, type Send } from './api-call.ts';
import type { ApiMeters } from './api-meters.ts';
import { isRecord } from './read-complaint.ts';
import { failureOf, goodAnswer, isPassing } from './read-failure.ts';
import { type Pages, readPages } from './read-pages.ts';
import { type PodContext, readListedPod } from './read-pod.ts';
import { routesOf } from './route-call.ts';

export interface ListContext {
  readonly send: Readonly<Record<ApiName, Send>>;
  readonly meters: ApiMeters;
  readonly clock: Clock;
  readonly pods: PodContext;
}

const WHAT = 'The pods of the account cannot be listed';
const PODS = `query Pods { myself { pods {
  id name desiredStatus lastStatusChange createdAt lastStartedAt costPerHr env ports
  machine { gpuTypeId secureCloud }
  runtime { ports { ip isIpPublic privatePort publicPort type } }
} } }`;

/** Every pod of the account, from REST v2, or from GraphQL where that cannot be asked. */
export async function listPods(context: ListContext): Promise<ListedPod[]> {
  const { meters, pods } = context;
  await meters.refresh();
  let failure: PagefleetError | null = null;
  for (const api of routesOf('list', meters.states())) {
    const read = await (api === 'rest' ? readRest(context) : readGraphql(context));
    if (read.kind === 'complete') return readEntries(read.items, api, pods);
    failure = failureOf(read.answer, api, WHAT);
    if (!mayAskOther(read.answer)) throw failure;
  }
  throw (
    failure ?? new PagefleetError('provider_failed', `${WHAT}: both APIs of RunPod may not be asked now.`)
  );
}

/** A refusal that is about us would be repeated there; and of what is not understood, nothing is guessed. */
function mayAskOther(answer: ApiAnswer): boolean {
  return (
    isPassing(answer) || answer.kind === 'withheld' || (answer.kind === 'answered' && answer.status === 429)
  );
}

function readRest({ send, clock }: ListContext): Promise<Pages> {
  return readPages(send.rest, clock, { operation: 'list', path: '/pods', name: 'pods' });
}

async function readGraphql({ send }: ListContext): Promise<Pages> {
  const answer = await send.graphql({
    ...{ operation: 'list', method: 'POST', path: '', timeoutMs: READ_TIMEOUT_MS },
    body: { query: PODS },
  });
  const good = goodAnswer(answer, 'graphql');
  if (good === null) return { kind: 'failed', answer };
  const data = isRecord(good.body) && isRecord(good.body.data) ? good.body.data : {};
  const pods = isRecord(data.myself) ? data.myself.pods : null;
  if (!Array.isArray(pods))
    throw new PagefleetError('provider_failed', `${WHAT}: the answer has no list of pods.`);
  return { kind: 'complete', items: pods.filter((pod) => pod !== null) };
}

function readEntries(items: readonly unknown[], api: ApiName, context: PodContext): ListedPod[] {
  const found = new Map<string, ListedPod>();
  try {
    for (const item of items) {
      const pod = readListedPod(item, api, context);
      if (pod !== null) found.set(pod.id, pod);
    }
  } catch (cause) {
    throw new PagefleetError('provider_failed', `${WHAT}: an entry is not understood.`, { cause });
  }
  for (const id of context.firstSeenMs.keys()) if (!found.has(id)) context.firstSeenMs.delete(id);
  return [...found.values()];
}
