import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Config, PagefleetError } from '@pagefleet/contract';
import { constantTimeEqual } from '@pagefleet/runtime';

export interface Caller {
  /** pages are shared fairly between names */
  readonly name: string;
  readonly role: 'client' | 'operator';
}

/** Without keys the endpoint listens on loopback only, and whoever reaches it may send pages. */
const ANYONE: Caller = { name: 'local', role: 'client' };

/** Every role may send pages. Throws `unauthorized`, or `forbidden` for a browser page of another origin. */
export function authenticate(headers: IncomingHttpHeaders, keys: Config['apiKeys']): Caller {
  if (keys.length === 0) {
    checkLocal(headers);
    return ANYONE;
  }
  const token = /^Bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1];
  if (token === undefined) {
    throw new PagefleetError('unauthorized', 'an API key is needed: Authorization: Bearer <key>');
  }
  const sha256 = createHash('sha256').update(token).digest('hex');
  let found: Caller | null = null;
  // Every key is compared, so that the time taken does not tell which one came close.
  for (const key of keys)
    if (constantTimeEqual(key.sha256, sha256)) found = { name: key.name, role: key.role };
  if (found === null) throw new PagefleetError('unauthorized', 'this API key is not known');
  return found;
}

/** A web page elsewhere must not spend pods through the visitor's own browser, by name or by address. */
function checkLocal(headers: IncomingHttpHeaders): void {
  const { host, origin } = headers;
  if (host !== undefined && !isLoopback(host)) {
    throw new PagefleetError(
      'forbidden',
      'without API keys requests must name the loopback host they are sent to',
    );
  }
  if (origin !== undefined && !isLoopback(origin.replace(/^https?:\/\//, ''))) {
    throw new PagefleetError('forbidden', 'without API keys a page of another origin may not send documents');
  }
}

function isLoopback(hostAndPort: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(hostAndPort);
}
