import type { IncomingMessage, ServerResponse } from 'node:http';
import { PagefleetError } from '@pagefleet/contract';
import type { PageTicket } from './page-gate.ts';
import { type PageHeaders, parsePageHeaders } from './parse-page-headers.ts';
import type { Pod } from './pod.ts';
import { tooLarge } from './read-body.ts';

export interface PageExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
}

/** What was let into the pod: a page, or a request to its model server. */
export interface Place {
  readonly headers: PageHeaders;
  readonly ticket: PageTicket;
  /** raised with a `PagefleetError`: the deadline, the sender's hang-up or `DELETE`, the end of the pod */
  readonly signal: AbortSignal;
}

/**
 * The time that a page spends in the pod, from its headers to the end of the work on it: counted by the gate, known to the
 * register, bounded by its deadline, ended with its sender. Whatever happens, place and slot are given back.
 */
export async function holdPlace<T>(
  pod: Pod,
  { request, response }: PageExchange,
  work: (place: Place) => Promise<T>,
): Promise<T> {
  const { headers, ticket, ending, end } = admit(pod, request);
  const deadline = setTimeout(() => {
    ending.abort(
      new PagefleetError('page_deadline', `the page was not read within ${headers.deadlineMs} ms`),
    );
  }, headers.deadlineMs);
  const hangUp = (): void => {
    if (!response.writableFinished) ending.abort(new PagefleetError('client_gone', 'the sender hung up'));
  };
  response.once('close', hangUp);
  if (response.destroyed) hangUp();
  try {
    return await work({ headers, ticket, signal: ending.signal });
  } finally {
    clearTimeout(deadline);
    ticket.leave();
    end();
    if (!response.destroyed) pod.owner.hearAgain();
  }
}

/** Decided from the headers alone, before a byte of the body is read. */
function admit(pod: Pod, request: IncomingMessage) {
  if (!pod.isBearer(request.headers.authorization)) {
    throw new PagefleetError('unauthorized', 'the bearer token is missing or wrong');
  }
  const headers = parsePageHeaders(request.headers);
  if (!pod.owner.hear(headers.owner)) {
    throw new PagefleetError('wrong_owner', 'this pod heard another owner a short time ago');
  }
  if (pod.stopping) throw new PagefleetError('stopping', 'this pod takes no more pages');
  const { maxPageBytes } = pod.settings;
  if (Number(request.headers['content-length'] ?? 0) > maxPageBytes) throw tooLarge(maxPageBytes);
  if (pod.engine.state() === 'dead') throw new PagefleetError('engine_not_ready', 'the engine is dead');

  const ticket = pod.gate.enter();
  if (ticket === null) {
    throw new PagefleetError('pod_full', 'this pod runs and holds as many pages as its width allows', {
      details: { retryAfterSeconds: 1 },
    });
  }
  const ending = new AbortController();
  const begun = pod.register.begin(headers.pageId, (reason) => ending.abort(reason));
  if (begun.kind === 'begun') return { headers, ticket, ending, end: begun.end };
  ticket.leave();
  throw new PagefleetError(
    'conflict',
    begun.kind === 'running' ? 'this page is in the pod now' : 'this page was ended by its sender',
  );
}
