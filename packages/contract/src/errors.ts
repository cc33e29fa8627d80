/**
 * The one catalogue of failures. A code says where it may be answered (HTTP status), how a command line ends (exit code)
 * and what a client may do about it (retry). Codes are contract: they are never renamed.
 */
export type RetryRule =
  /** the same request can never succeed */
  | 'never'
  /** wait `Retry-After`, as often as it takes */
  | 'after'
  /** wait with growing pauses */
  | 'backoff'
  /** five attempts at most, then the page is parked */
  | 'limited';

interface ErrorRow {
  readonly httpStatus: number;
  readonly exitCode: number;
  readonly retry: RetryRule;
  readonly doc: string;
}

export const ERRORS = {
  bad_request: row(
    400,
    1,
    'never',
    'The request is malformed: a field is missing, unknown or out of its bounds.',
  ),
  empty_body: row(400, 2, 'never', 'The request carries no document, or no body.'),
  unauthorized: row(401, 1, 'never', 'No API key, or one that is not known.'),
  forbidden: row(403, 1, 'never', 'The key is known but its role may not do this.'),
  not_found: row(404, 1, 'never', 'No such path, file or pod.'),
  method_not_allowed: row(405, 1, 'never', 'The path exists, the method does not.'),
  conflict: row(409, 1, 'never', 'The thing is in a state in which this cannot be done.'),
  payload_too_large: row(413, 2, 'never', 'The body is larger than the configured limit.'),
  unsupported_media_type: row(
    415,
    2,
    'never',
    'The bytes are no PDF, PNG, JPEG, TIFF or WebP, or a control body is no JSON.',
  ),
  upload_too_slow: row(408, 1, 'backoff', 'The body came slower than the least rate, or not at all.'),

  document_encrypted: row(400, 2, 'never', 'The document needs a password.'),
  document_damaged: row(400, 2, 'never', 'No reader can open the document.'),
  document_without_pages: row(400, 2, 'never', 'The document has no pages.'),
  document_too_many_pages: row(400, 2, 'never', 'The document has more pages than the configured limit.'),
  page_out_of_range: row(400, 2, 'never', 'A selected page does not exist in the document.'),
  page_unreadable: row(422, 2, 'never', 'One page cannot be opened or drawn; the others are not affected.'),
  page_too_large: row(422, 2, 'never', 'One page has more pixels than the limit allows to draw.'),
  page_parked: row(422, 2, 'never', 'Two pods failed on the same page: the page is at fault.'),

  queue_full: row(429, 1, 'after', 'As many pages as fit are in flight and waiting.'),
  pod_full: row(429, 1, 'after', 'A pod runs and holds as many pages as its width allows.'),
  local_shortage: row(
    503,
    1,
    'after',
    'A limit of our own was reached (connections, threads, memory); no pod is at fault.',
  ),
  no_capacity: row(503, 1, 'after', 'No pod serves this model now.'),
  fleet_required: row(503, 1, 'after', 'The request must be read by the fleet and the fleet cannot now.'),
  pool_suspected: row(503, 1, 'after', 'Most pods of the pool refuse pages; it takes none for a while.'),
  starting: row(503, 1, 'after', 'The process is starting.'),
  stopping: row(503, 1, 'after', 'The process is stopping.'),
  spool_full: row(503, 1, 'after', 'No room on disk to hold the body.'),
  page_deadline: row(504, 1, 'backoff', 'The page was not read within its deadline.'),
  pod_failed: row(502, 1, 'limited', 'The pod that read the page died or broke off.'),
  pod_refused: row(502, 1, 'limited', 'The pod answered but refused the page.'),
  engine_failed: row(502, 1, 'limited', 'The engine in the pod failed on this page.'),
  process_lost: row(
    502,
    1,
    'backoff',
    'The process of ours that held the request died before it answered; no pod is at fault.',
  ),
  unreachable: row(
    503,
    1,
    'backoff',
    'No connection could be made: nobody listens at the address, or it does not exist.',
  ),
  engine_not_ready: row(503, 1, 'after', 'The engine in the pod is starting or dead.'),
  wrong_owner: row(409, 1, 'never', 'The pod belongs to another controller.'),
  client_gone: row(499, 1, 'never', 'The client hung up.'),

  config_invalid: row(500, 1, 'never', 'The configuration does not fit its schema.'),
  already_running: row(409, 1, 'never', 'Another controller holds this state directory.'),
  bus_unavailable: row(503, 1, 'backoff', 'NATS does not answer.'),
  provider_failed: row(502, 1, 'backoff', 'The provider of pods failed or answered something unknown.'),
  pods_remain: row(500, 1, 'never', 'Some pods could not be ended and may still bill.'),
  timeout: row(504, 1, 'backoff', 'The other side did not answer in time.'),
  interrupted: row(503, 130, 'never', 'Stopped by a signal.'),
  unsupported: row(501, 1, 'never', 'This build or system cannot do that.'),
  internal: row(500, 1, 'limited', 'A fault of ours.'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorDetails {
  /** where in the request or configuration: `document.type`, `pools[0].width` */
  readonly param?: string;
  /** extra machine-readable fields; they must never hold an address or a token of a pod */
  readonly [key: string]: unknown;
}

/** The one error type. `message` names what was wrong and what was expected and is safe to show to a client. */
export class PagefleetError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PagefleetError';
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** The body of every HTTP error: Mistral's shape, which OCR clients print well, plus the request's id. */
export interface ErrorBody {
  object: 'error';
  message: string;
  type: string;
  param: string | null;
  code: ErrorCode;
  request_id?: string;
  [extra: string]: unknown;
}

/**
 * What a message may hold, in characters. It quotes what the client sent, and at the door it travels in a header, where a
 * character takes up to six bytes of nginx's 16 KB.
 */
const MAX_MESSAGE_CHARS = 1_000;
const MAX_PARAM_CHARS = 100;

export function toErrorBody(error: PagefleetError, requestId?: string): ErrorBody {
  const { param, ...extra } = error.details;
  return {
    ...extra,
    object: 'error',
    message: shorten(error.message, MAX_MESSAGE_CHARS),
    type: ERRORS[error.code].httpStatus >= 500 ? 'server_error' : 'invalid_request_error',
    param: param === undefined ? null : shorten(param, MAX_PARAM_CHARS),
    code: error.code,
    ...(requestId === undefined ? {} : { request_id: requestId }),
  };
}

/** An error as OpenAI’s clients read it; ours stands in it whole, figures of R-013 included. */
export function toOpenAiError(
  error: PagefleetError,
  requestId: string,
): { error: Omit<ErrorBody, 'object'> } {
  const { object: _, retryAfterSeconds: __, ...body } = toErrorBody(error, requestId);
  return { error: body };
}

function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERRORS, value);
}

function row(httpStatus: number, exitCode: number, retry: RetryRule, doc: string): ErrorRow {
  return { httpStatus, exitCode, retry, doc };
}
