import { PagefleetError } from '@pagefleet/contract';

/** What a request for a chat says that decides where it goes. The body itself is passed on as it came. */
export interface ChatHead {
  readonly model: string;
  readonly isStream: boolean;
}

/** Reads the JSON body of a request to one of `MODEL_PATHS`. Runs in a thread for large bodies. */
export function parseChatHead(text: string): ChatHead {
  const body = parseObject(text);
  const { model } = body;
  if (typeof model !== 'string' || model === '') {
    const message = 'the request names no model: expected "model" with a name of GET /v1/models';
    throw new PagefleetError('not_found', message, { details: { param: 'model' } });
  }
  return { model, isStream: body.stream === true };
}

function parseObject(text: string): Record<string, unknown> {
  if (text.trim() === '')
    throw new PagefleetError('empty_body', 'the request has no body: expected a JSON object');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new PagefleetError('bad_request', 'the body cannot be parsed as JSON', { cause });
  }
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as Record<string, unknown>;
  throw new PagefleetError('bad_request', 'the body is no JSON object');
}
