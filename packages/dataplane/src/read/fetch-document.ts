import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { PagefleetError } from '@pagefleet/contract';
import { Agent, type Dispatcher } from 'undici';
import type { BodyStore } from './body-store.ts';
import type { HeldBytes } from './held-bytes.ts';
import { isPublicAddress } from './public-address.ts';
import { pumpBody } from './pump-body.ts';

export interface DocumentFetcher {
  /** Fetches from an allowed host over https. */
  fetch(url: string, signal: AbortSignal): Promise<HeldBytes>;
  close(): Promise<void>;
}

export interface FetcherOptions {
  /** exact host names, or `*.example.org` for every name below it */
  readonly hosts: readonly string[];
  readonly store: BodyStore;
  readonly maxBytes: number;
  readonly connectTimeoutMs: number;
  /** what carries the requests; by default https to public addresses only */
  readonly dispatcher?: Dispatcher;
}

const DEADLINE_MS = 120_000;
const MAX_REDIRECTS = 3;

export function createDocumentFetcher(options: FetcherOptions): DocumentFetcher {
  const dispatcher = options.dispatcher ?? publicAgent(options.connectTimeoutMs);

  async function fetch(url: string, signal: AbortSignal): Promise<HeldBytes> {
    const within = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]);
    try {
      return await follow(url, within);
    } catch (cause) {
      if (cause instanceof PagefleetError) throw cause;
      signal.throwIfAborted();
      throw notFetched('it does not answer, or not from a public address', cause);
    }
  }

  async function follow(first: string, signal: AbortSignal): Promise<HeldBytes> {
    let url = checkUrl(first, options.hosts);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const answer = await dispatcher.request({
        method: 'GET',
        origin: url.origin,
        path: url.pathname + url.search,
        signal,
      });
      const { location } = answer.headers;
      if (answer.statusCode < 300 || answer.statusCode >= 400 || typeof location !== 'string')
        return take(answer, signal);
      await answer.body.dump();
      // Every hop is held to the same rules as the first.
      url = checkUrl(new URL(location, url).href, options.hosts);
    }
    throw notFetched(`it redirects more than ${MAX_REDIRECTS} times`);
  }

  async function take(answer: Dispatcher.ResponseData, signal: AbortSignal): Promise<HeldBytes> {
    if (answer.statusCode !== 200) {
      await answer.body.dump();
      throw notFetched(`its host answered ${answer.statusCode}`);
    }
    const sink = options.store.sink(options.maxBytes);
    try {
      await pumpBody(answer.body, (chunk) => sink.write(chunk), signal);
      return await sink.finish();
    } finally {
      sink.abandon();
      answer.body.destroy();
    }
  }

  return { fetch, close: () => dispatcher.destroy() };
}

/** Throws `bad_request` unless it is an https URL of an allowed host (no request forgery). */
function checkUrl(text: string, hosts: readonly string[]): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url) throw refused('it is no URL; send a data URL, or the document itself');
  if (url.protocol !== 'https:') throw refused(`only https and data URLs are accepted, not ${url.protocol}`);
  if (url.username !== '' || url.password !== '') throw refused('it carries a user name or password');
  if (hosts.length === 0)
    throw refused('documents are fetched from no host here; send a data URL, or the document itself');
  if (!hosts.some((host) => isHost(url.hostname, host.toLowerCase()))) {
    throw refused(`the operator does not allow the host ${url.hostname}`);
  }
  return url;
}

function isHost(hostname: string, allowed: string): boolean {
  return allowed.startsWith('*.') ? hostname.endsWith(allowed.slice(1)) : hostname === allowed;
}

/** The address is checked where the connection is made, so that a name cannot change its meaning in between. */
function publicAgent(connectTimeoutMs: number): Agent {
  return new Agent({
    connections: 8,
    pipelining: 1,
    headersTimeout: 30_000,
    bodyTimeout: 30_000,
    connect: { timeout: connectTimeoutMs, lookup: lookupPublic },
  });
}

const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 0);
    const usable = addresses.filter(({ address }) => isPublicAddress(address));
    const [first] = usable;
    if (!first) return callback(new Error('the name has no public address'), '', 0);
    if (options.all) return callback(null, usable);
    return callback(null, first.address, first.family);
  });
};

function refused(why: string): PagefleetError {
  return new PagefleetError('bad_request', `document_url is refused: ${why}`, {
    details: { param: 'document.document_url' },
  });
}

function notFetched(why: string, cause?: unknown): PagefleetError {
  return new PagefleetError('bad_request', `the document could not be fetched: ${why}`, {
    details: { param: 'document.document_url' },
    cause,
  });
}
