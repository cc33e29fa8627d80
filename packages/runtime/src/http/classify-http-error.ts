import { type ErrorCode, PagefleetError } from '@pagefleet/contract';

/** What Fastify and its body parser call their failures → our catalogue. First table, then the status, then a fault of ours. */
const BY_CODE: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_VALIDATION: 'bad_request',
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'empty_body',
  FST_ERR_CTP_INVALID_JSON_BODY: 'bad_request',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'bad_request',
  FST_ERR_BAD_URL: 'bad_request',
  FST_ERR_NOT_FOUND: 'not_found',
};

const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'upload_too_slow',
  409: 'conflict',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  503: 'stopping',
};

interface HttpFailure {
  readonly code?: string;
  readonly statusCode?: number;
  readonly message?: string;
  readonly validation?: readonly {
    readonly instancePath?: string;
    readonly params?: Record<string, unknown>;
  }[];
  readonly validationContext?: string;
}

/** Turns whatever a handler or Fastify threw into the one error type. A fault of ours shows no inner text to the client. */
export function classifyHttpError(error: unknown): PagefleetError {
  if (error instanceof PagefleetError) return error;
  const failure = (error ?? {}) as HttpFailure;
  const code = BY_CODE[failure.code ?? ''] ?? BY_STATUS[failure.statusCode ?? 500];
  if (code === undefined) return new PagefleetError('internal', 'A fault of ours.', { cause: error });
  const param = failure.validation && paramOf(failure.validation[0]);
  const unknown = failure.validation?.[0]?.params?.additionalProperty;
  const message =
    typeof unknown === 'string'
      ? `${failure.validationContext ?? 'body'} has the unknown field "${unknown}"`
      : (failure.message ?? code);
  return new PagefleetError(code, message, { cause: error, ...(param ? { details: { param } } : {}) });
}

/** `/pools/0/width` → `pools[0].width`; a missing or unknown field is named itself. */
function paramOf(first: NonNullable<HttpFailure['validation']>[number] | undefined): string | undefined {
  const path = (first?.instancePath ?? '')
    .split('/')
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('');
  const own = first?.params?.additionalProperty ?? first?.params?.missingProperty;
  const full = typeof own === 'string' ? `${path}.${own}` : path;
  return full.replace(/^\./, '') || undefined;
}
