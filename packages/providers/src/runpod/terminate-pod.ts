import { PagefleetError } from '@pagefleet/contract';
import { type ApiAnswer, type ApiName, READ_TIMEOUT_MS } from './api-call.ts';
import type { ListContext } from './list-pods.ts';
import { readComplaint } from './read-complaint.ts';
import { failureOf, goodAnswer, isPassing } from './read-failure.ts';
import { routesOf } from './route-call.ts';

const AGAIN_AFTER_MS = 1_000;
const TERMINATE = 'mutation End($input: PodTerminateInput!) { podTerminate(input: $input) }';

/**
 * Asks for the end of a pod. That it is gone, or never was, ends the call well; whether it is gone, listings say. After a
 * first answer that was lost nobody knows whether that call ended it, so that too is `absent`.
 */
export async function terminatePod(context: ListContext, id: string): Promise<'absent' | undefined> {
  const what = `Pod ${id} could not be asked to end`;
  const { meters, clock } = context;
  await meters.refresh();
  let failure: PagefleetError | null = null;
  for (const api of routesOf('terminate', meters.states())) {
    let answer = await ask(context, api, id);
    if (isPassing(answer)) {
      await clock.sleep(AGAIN_AFTER_MS);
      answer = await ask(context, api, id);
    }
    if (goodAnswer(answer, api) !== null) return undefined;
    if (isAbsent(answer, api)) return 'absent';
    failure = failureOf(answer, api, what);
    // The pod is a part of a cluster: neither API ends it alone. Every other refusal is worth the other API's word.
    if (answer.kind === 'answered' && answer.status === 409) throw failure;
  }
  throw (
    failure ?? new PagefleetError('provider_failed', `${what}: both APIs of RunPod may not be asked now.`)
  );
}

function ask({ send }: ListContext, api: ApiName, id: string): Promise<ApiAnswer> {
  const call = { operation: 'terminate', timeoutMs: READ_TIMEOUT_MS } as const;
  if (api === 'rest')
    return send.rest({ ...call, method: 'DELETE', path: `/pods/${encodeURIComponent(id)}` });
  return send.graphql({
    ...{ ...call, method: 'POST', path: '' },
    body: { query: TERMINATE, variables: { input: { podId: id } } },
  });
}

function isAbsent(answer: ApiAnswer, api: ApiName): boolean {
  if (answer.kind !== 'answered') return false;
  // Of the pod, not of the path: an API that has moved has ended nothing.
  if (api === 'rest')
    return answer.status === 404 && !/path was not found/i.test(readComplaint(answer).words);
  return /pod not found/i.test(readComplaint(answer).words);
}
