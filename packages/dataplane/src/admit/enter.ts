import type { IncomingMessage } from 'node:http';
import { type Config, OCR_REQUEST_HEADERS, PagefleetError } from '@pagefleet/contract';
import { choosePool } from '../check-capacity.ts';
import type { PodTable } from '../forward/pod-table.ts';
import type { Metrics } from '../metrics.ts';
import type { PoolDirectory } from '../pool-directory.ts';
import type { Admission } from './admission.ts';
import { authenticate, type Caller } from './authenticate.ts';
import type { RefusedPages } from './refused-pages.ts';
import type { Ticket } from './ticket.ts';

export interface DoorOptions {
  readonly config: Config;
  readonly admission: Admission;
  readonly refused: RefusedPages;
  readonly pools: PoolDirectory;
  readonly pods: PodTable;
  readonly metrics: Metrics;
  nowMs(): number;
}

export interface Entered {
  readonly caller: Caller;
  readonly ticket: Ticket;
}

export interface Newcomer {
  readonly request: IncomingMessage;
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
}

/** Decides from the headers alone, before the body is read. Throws what the client is told. */
export async function enter({ request, query, signal }: Newcomer, options: DoorOptions): Promise<Entered> {
  const { config, admission, refused, pools } = options;
  const caller = authenticate(request.headers, config.apiKeys);
  checkLength(request, config.limits.maxBodyBytes);
  // With several pools only the body tells which one is meant.
  const [only, ...others] = pools.names();
  if (only !== undefined && others.length === 0) {
    choosePool(only, query.get('require') === 'fleet' || pools.isFleetOnly(only, caller.name), options);
  }
  const fingerprint = fingerprintOf(request, caller);
  try {
    const ticket = await admission.admit({ holdMs: holdMsOf(request, config.limits.maxWaitMs), signal });
    refused.admit(fingerprint, options.nowMs());
    return { caller, ticket };
  } catch (cause) {
    if (cause instanceof PagefleetError && cause.code !== 'client_gone') {
      refused.refuse(fingerprint, options.nowMs());
      options.metrics.pageRefused(cause.code);
    }
    throw cause;
  }
}

function checkLength(request: IncomingMessage, maxBodyBytes: number): void {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length <= maxBodyBytes) return;
  throw new PagefleetError(
    'payload_too_large',
    `the body has ${length} bytes; the limit is ${maxBodyBytes}`,
    { details: { max_bytes: maxBodyBytes } },
  );
}

function holdMsOf(request: IncomingMessage, maxWaitMs: number): number {
  const given = request.headers[OCR_REQUEST_HEADERS.maxWait];
  if (given === undefined) return 0;
  if (typeof given !== 'string' || !/^\d{1,12}$/.test(given)) {
    throw new PagefleetError(
      'bad_request',
      `${OCR_REQUEST_HEADERS.maxWait} is "${given}"; expected milliseconds`,
      {
        details: { param: OCR_REQUEST_HEADERS.maxWait },
      },
    );
  }
  return Math.min(Number(given), maxWaitMs);
}

/** What tells one refused page from another before its body is seen. */
function fingerprintOf({ headers }: IncomingMessage, caller: Caller): string {
  const own = headers[OCR_REQUEST_HEADERS.requestId] ?? headers['idempotency-key'];
  return [caller.name, own ?? headers['content-length'] ?? '', headers['content-type'] ?? ''].join('|');
}
