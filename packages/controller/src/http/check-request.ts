import { PagefleetError } from '@pagefleet/contract';
import type { FastifyRequest } from 'fastify';

/**
 * Hooks for `onRequest`: what the headers alone can tell is judged before a body is read, and after who asks.
 */

/** No path here takes options: one that is misspelt, or meant for another path, must not be ignored without a word. */
export async function refuseOptions(request: FastifyRequest): Promise<void> {
  const [option] = Object.keys(request.query as object);
  if (option === undefined) return;
  throw new PagefleetError(
    'bad_request',
    `"${option}" is no option; ${request.routeOptions.url} takes none behind the ?`,
    { details: { param: option } },
  );
}

/** A form that a foreign page could send without asking is no control body. */
export async function requireJson(request: FastifyRequest): Promise<void> {
  const type = request.headers['content-type'];
  if (type !== undefined && /^application\/json\s*(;|$)/i.test(type)) return;
  throw new PagefleetError(
    'unsupported_media_type',
    `the Content-Type is ${type === undefined ? 'missing' : `"${type}"`}; control bodies are application/json`,
    { details: { param: 'Content-Type' } },
  );
}
