import { PagefleetError } from '@pagefleet/contract';
import { NotAnObject, readString, scanObject } from './scan-object.ts';

/** What a request for a chat says that decides where it goes. The body itself is passed on as it came. */
export interface ChatHead {
  readonly model: string;
  readonly isStream: boolean;
}

const QUOTE = 0x22;

/** Reads the JSON body of a request to one of `MODEL_PATHS`. Runs in a thread for large bodies. */
export function parseChatHead(body: Uint8Array): ChatHead {
  if (isBlank(body))
    throw new PagefleetError('empty_body', 'the request has no body: expected a JSON object');
  let model = '';
  let isStream = false;
  try {
    // Of a member that stands there twice the last one holds, as for the model server.
    for (const { key, start, end } of scanObject(body)) {
      if (key === 'model') model = body[start] === QUOTE ? readString(body, start, end) : '';
      if (key === 'stream') isStream = Buffer.from(body.subarray(start, end)).toString() === 'true';
    }
  } catch (cause) {
    if (!(cause instanceof NotAnObject)) throw cause;
    throw new PagefleetError('bad_request', `the body is no JSON object: ${cause.message}`, { cause });
  }
  if (model !== '') return { model, isStream };
  const message = 'the request names no model: expected "model" with a name of GET /v1/models';
  throw new PagefleetError('not_found', message, { details: { param: 'model' } });
}

function isBlank(body: Uint8Array): boolean {
  return body.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
}
