import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Config, PagefleetError } from '@pagefleet/contract';
import { constantTimeEqual } from '@pagefleet/runtime';
import type { FastifyRequest } from 'fastify';

export type Role = 'client' | 'operator';

export interface Caller {
  /** of the API key; leases belong to it */
  readonly name: string;
  readonly role: Role;
}

/** As the workers call those who need no key. */
const ANYONE: Caller = { name: 'local', role: 'client' };
const BY_TOKEN: Caller = { name: 'operator', role: 'operator' };

interface AuthoriseOptions {
  readonly config: Config;
  readonly operatorTokenFile: string;
}

/** Asked by OpenAI’s clients; the paths of a chat are a worker’s. */
export const OPENAI_PATHS = /^\/v1\/models(?:[/?]|$)/;
const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '::1']);

/**
 * Throws unless the request may act as `wanted`. The operator's token, which `up` prints and keeps in a private file, always
 * makes an operator. Without API keys everybody who reaches us is on this machine and acts as a client, and then a browser
 * is the danger: a page of somebody else's site must not reach us by a name that it points here.
 */
export function createAuthorise(options: AuthoriseOptions) {
  const { config, operatorTokenFile } = options;
  return async function authorise(request: FastifyRequest, wanted: Role): Promise<Caller> {
    refuseForeignBrowser(request, config);
    const token = bearerOf(request);
    const caller = (await callerOf(token)) ?? (needsNoKey(request) ? ANYONE : null);
    if (caller === null) {
      throw new PagefleetError('unauthorized', 'send a known API key as `Authorization: Bearer …`');
    }
    if (wanted === 'operator' && caller.role !== 'operator') {
      throw new PagefleetError(
        'forbidden',
        'this needs the operator’s token, which `pagefleet up` keeps in run/operator-token, or a key with the role operator',
      );
    }
    return caller;
  };

  /** Those clients always send some word for a key: where none is needed it is not judged, as on the paths of a chat. */
  function needsNoKey({ url }: FastifyRequest): boolean {
    return config.apiKeys.length === 0 && OPENAI_PATHS.test(url);
  }

  async function callerOf(token: string | null): Promise<Caller | null> {
    if (token === null) return config.apiKeys.length === 0 ? ANYONE : null;
    const operatorToken = await readFile(operatorTokenFile, 'utf8').catch(() => '');
    if (operatorToken.trim() !== '' && constantTimeEqual(token, operatorToken.trim())) return BY_TOKEN;
    const digest = createHash('sha256').update(token).digest('hex');
    const key = config.apiKeys.find((one) => constantTimeEqual(one.sha256, digest));
    return key === undefined ? null : { name: key.name, role: key.role };
  }
}

function bearerOf(request: FastifyRequest): string | null {
  const match = /^Bearer\s+(\S+)\s*$/i.exec(request.headers.authorization ?? '');
  return match?.[1] ?? null;
}

function refuseForeignBrowser(request: FastifyRequest, config: Config): void {
  const { host, origin } = request.headers;
  if (config.apiKeys.length === 0 && !isOurName(hostnameOf(`http://${host ?? ''}`), config)) {
    throw new PagefleetError('forbidden', 'the Host header names another machine', {
      details: { param: 'Host' },
    });
  }
  if (origin !== undefined && hostPartOf(origin) !== host) {
    throw new PagefleetError('forbidden', 'the request comes from a page of another site', {
      details: { param: 'Origin' },
    });
  }
}

function isOurName(name: string | null, config: Config): boolean {
  return name !== null && (LOOPBACK_NAMES.has(name) || name === config.listen.host);
}

function hostnameOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : null;
}

function hostPartOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}
