import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { ERRORS, PagefleetError, toErrorBody } from '@pagefleet/contract';
import {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  fastify,
  LogController,
} from 'fastify';
import type { Logger } from '../logger.ts';
import { classifyHttpError } from './classify-http-error.ts';

export interface HttpAppOptions {
  readonly name: string;
  readonly logger: Logger;
  /** 1 MiB if left out: enough for any control body */
  readonly bodyLimitBytes?: number;
  /** longest time to receive a whole request; 0 = no limit, for those that time uploads themselves. 30 s if left out */
  readonly requestTimeoutMs?: number;
  /** above nginx's upstream `keepalive_timeout` of 5 s, so that nginx, not we, ends an idle connection. 75 s if left out */
  readonly keepAliveTimeoutMs?: number;
  /** what else Node's server should be told: `highWaterMark`, `maxHeaderSize` */
  readonly http?: ServerOptions;
  /** the body of an error on a path whose clients expect another shape than Mistral's */
  readonly errorBody?: (error: PagefleetError, request: FastifyRequest) => object;
  /** speaks TLS, and nothing else; plain HTTP if left out */
  readonly tls?: TlsOptions;
  /** what else Fastify should be told */
  readonly fastify?: FastifyServerOptions;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,120}$/;
const DEFAULT_RETRY_AFTER_SECONDS = 1;
const HEADERS_TIMEOUT_MS = 10_000;
/** Node looks for overdue requests this seldom; its own 30 s would make any timeout up to 30 s late. */
const OVERDUE_CHECK_MS = 5_000;

/**
 * A Fastify app that answers every failure from the catalogue: unknown path, wrong method, bad body, thrown error. Bodies
 * are strict: an unknown field is an error, nothing is coerced. The request's id is taken over or made, and given back.
 */
export function createHttpApp(options: HttpAppOptions): FastifyInstance {
  const { requestTimeoutMs = 30_000, tls } = options;
  const server: ServerOptions = {
    // A request timeout below the headers timeout never strikes in Node 24 (tried).
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs || HEADERS_TIMEOUT_MS),
    connectionsCheckingInterval: OVERDUE_CHECK_MS,
    ...options.http,
  };
  const { errorBody = (error, { id }) => toErrorBody(error, id) } = options;
  const fail = (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void =>
    sendError(thrown, { request, reply, errorBody });
  const app = fastify({
    loggerInstance: options.logger.child({ app: options.name }) as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    bodyLimit: options.bodyLimitBytes ?? 1_048_576,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: options.keepAliveTimeoutMs ?? 75_000,
    ...(tls === undefined ? { http: server } : { https: { ...server, ...tls } }),
    genReqId: requestIdOf,
    return503OnClosing: false,
    // Ajv's defaults in Fastify drop unknown fields and turn "1" into 1: a misspelt `max_pods` would lift a cap.
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, allErrors: false } },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => fail(error, request, reply),
    ...options.fastify,
  }) as FastifyInstance;

  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  app.setErrorHandler(fail);
  app.setNotFoundHandler((request, reply) => fail(notFound(app, request, reply), request, reply));
  return app;
}

function requestIdOf(request: { headers: IncomingMessage['headers'] }): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

function notFound(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): PagefleetError {
  const path = request.url.split('?')[0] ?? request.url;
  const allowed = METHODS.filter((method) => app.findRoute({ url: path, method }) !== null);
  if (allowed.length === 0) return new PagefleetError('not_found', `There is no path ${path}.`);
  reply.header('allow', allowed.join(', '));
  return new PagefleetError(
    'method_not_allowed',
    `${path} takes ${allowed.join(', ')}, not ${request.method}.`,
  );
}

/** Sends an error as the catalogue says. `details.retryAfterSeconds` becomes the header of 429 and 503. */
function sendError(
  thrown: unknown,
  to: Required<Pick<HttpAppOptions, 'errorBody'>> & { request: FastifyRequest; reply: FastifyReply },
): void {
  const { request, reply, errorBody } = to;
  const error = classifyHttpError(thrown as FastifyError);
  const status = ERRORS[error.code].httpStatus;
  if (error.code === 'internal') request.log.error({ err: error.cause ?? error }, 'request_failed');
  if ((status === 429 || status === 503) && !reply.hasHeader('retry-after')) {
    const { retryAfterSeconds } = error.details;
    reply.header(
      'retry-after',
      String(typeof retryAfterSeconds === 'number' ? retryAfterSeconds : DEFAULT_RETRY_AFTER_SECONDS),
    );
  }
  reply.header('x-request-id', request.id);
  reply
    .code(status)
    .type('application/json')
    .send(JSON.stringify(errorBody(error, request)));
}

/** Answers what is not even HTTP, on the bare socket. A broken connection, or a handshake that failed, gets nothing. */
function answerBrokenRequest(failure: Error & { code?: string }, socket: Socket): void {
  if (!/^(HPE|ERR_HTTP)_/.test(failure.code ?? '') || !socket.writable) return void socket.destroy();
  const tooLate = failure.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const error = tooLate
    ? new PagefleetError('upload_too_slow', 'The request did not arrive in time.')
    : new PagefleetError('bad_request', 'The request is not valid HTTP.');
  const body = JSON.stringify(toErrorBody(error));
  const status = tooLate ? '408 Request Timeout' : '400 Bad Request';
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
