import { describe, expect, it } from 'vitest';
import { isUnsent } from './is-unsent.ts';

const failed = (code: string, syscall?: string) =>
  Object.assign(new Error(code), { code, ...(syscall === undefined ? {} : { syscall }) });

describe('a call that failed', () => {
  it('was_not_sent_when_no_connection_was_made', () => {
    for (const code of ['ECONNREFUSED', 'ENETUNREACH', 'ETIMEDOUT', 'EMFILE'])
      expect(isUnsent(failed(code, 'connect')), code).toBe(true);
    for (const code of ['ENOTFOUND', 'EAI_AGAIN'])
      expect(isUnsent(failed(code, 'getaddrinfo')), code).toBe(true);
    for (const code of ['UND_ERR_CONNECT_TIMEOUT', 'CERT_HAS_EXPIRED'])
      expect(isUnsent(failed(code)), code).toBe(true);
    expect(isUnsent(new Error('failed', { cause: failed('ENOTFOUND', 'getaddrinfo') }))).toBe(true);
    const addresses = [failed('ECONNREFUSED', 'connect'), failed('ENETUNREACH', 'connect')];
    expect(isUnsent(new AggregateError(addresses))).toBe(true);
  });

  it('may_have_been_sent_in_every_other_case', () => {
    // A route that is lost later shows by the same codes on the open connection.
    for (const code of ['ECONNRESET', 'EHOSTUNREACH', 'ETIMEDOUT', 'EPIPE'])
      expect(isUnsent(failed(code, 'read')), code).toBe(false);
    for (const code of ['UND_ERR_SOCKET', 'UND_ERR_RES_EXCEEDED_MAX_SIZE'])
      expect(isUnsent(failed(code)), code).toBe(false);
    expect(isUnsent(new DOMException('too late', 'TimeoutError'))).toBe(false);
    const addresses = [failed('ECONNREFUSED', 'connect'), failed('ECONNRESET', 'read')];
    expect(isUnsent(new AggregateError(addresses))).toBe(false);
    expect(isUnsent('?')).toBe(false);
  });
});
