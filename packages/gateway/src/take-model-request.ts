import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type ModelPath, PagefleetError } from '@pagefleet/contract';
import type { ModelAnswer } from '@pagefleet/engines';
import { holdPlace, type PageExchange, type Place } from './hold-place.ts';
import type { Pod } from './pod.ts';
import { readBody } from './read-body.ts';

const JSON_TYPE = 'application/json';

/**
 * Passes a request on to the model server, and its answer back byte for byte, under the rules of a page. What fails before
 * the first byte of an answer is thrown; what fails later cuts the connection, so that nobody takes a part for the whole
 * . `hijack` is called when the answer begins: from then on it is sent here.
 */
export function takeModelRequest(
  pod: Pod,
  path: ModelPath,
  exchange: PageExchange,
  hijack: () => void,
): Promise<void> {
  return holdPlace(pod, exchange, async (place) => {
    const log = pod.logger.child({ pageId: place.headers.pageId, requestId: exchange.requestId, path });
    const answer = await ask(pod, path, exchange.request, place).catch((error: unknown) => {
      log.info({ code: codeOf(error) }, 'model_request_failed');
      throw error;
    });
    const startedAtMs = pod.monotonicMs();
    hijack();
    exchange.response.setHeader('x-request-id', exchange.requestId);
    const outcome = await send(answer, exchange.response, place.signal);
    const ms = Math.round(pod.monotonicMs() - startedAtMs);
    log.info({ status: answer.status, outcome, ms }, 'model_answered');
  });
}

async function ask(
  pod: Pod,
  path: ModelPath,
  request: IncomingMessage,
  { ticket, signal }: Place,
): Promise<ModelAnswer> {
  const body = await readBody(request, { maxBytes: pod.settings.maxPageBytes, signal });
  await ticket.slot(signal);
  await pod.engine.ready(signal);
  signal.throwIfAborted();
  return await pod.engine.forward({ path, contentType: contentTypeOf(request), body, signal });
}

/** The connection is ended cleanly only after the last byte of the model server. Tells who ended it. */
async function send(
  { status, headers, body }: ModelAnswer,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<string> {
  let outcome = 'broken_off';
  body.once('error', () => {
    // Before our own cutting of the connection looks like the sender's.
    outcome = codeOf(signal.reason) ?? outcome;
  });
  response.writeHead(status, headers);
  response.flushHeaders();
  try {
    await pipeline(body, response);
    return 'sent';
  } catch {
    response.destroy();
    return outcome;
  }
}

/** As sent: what the framework is told of a body was taken out of the headers, so that it parses none. */
function contentTypeOf({ rawHeaders }: IncomingMessage): string {
  const at = rawHeaders.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === 'content-type');
  return at < 0 ? JSON_TYPE : (rawHeaders[at + 1] ?? JSON_TYPE);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof PagefleetError ? error.code : undefined;
}
