import type { PeerCertificate } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { podRoute, podTls } from './pod-transport.ts';

const TOKEN = 'a1'.repeat(32);
const keyOf = (token: string) => podRoute('psk://192.0.2.1:8000', token).connect.pskCallback?.().psk;

describe('podRoute (DESIGN 5, who answers)', () => {
  it.each([
    ['http://127.0.0.1:4000', 'http://127.0.0.1:4000'],
    ['https://abc-8000.proxy.example.net', 'https://abc-8000.proxy.example.net'],
    ['psk://192.0.2.1:8000', 'https://192.0.2.1:8000'],
    ['psk://[2001:db8::1]:8000', 'https://[2001:db8::1]:8000'],
  ])('%s leads to %s', (url, origin) => {
    expect(podRoute(url, TOKEN).origin).toBe(origin);
  });

  it('only_a_psk_address_asks_for_a_key', () => {
    for (const url of ['http://127.0.0.1:1', 'https://example.net'])
      expect(podRoute(url, TOKEN).connect).toEqual({ allowH2: false });
    expect(podRoute('psk://192.0.2.1:1', TOKEN).connect).toMatchObject({
      ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
      maxVersion: 'TLSv1.2',
      maxCachedSessions: 0,
    });
  });

  it('each_token_has_its_key_and_the_key_is_not_the_token', () => {
    expect(keyOf(TOKEN)).toHaveLength(32);
    expect(keyOf(TOKEN)).toEqual(keyOf(TOKEN));
    expect(keyOf(TOKEN)).not.toEqual(keyOf('b2'.repeat(32)));
    expect([TOKEN, Buffer.from(TOKEN, 'hex').toString('latin1')]).not.toContain(
      keyOf(TOKEN)?.toString('latin1'),
    );
  });

  it('whoever_shows_a_certificate_is_not_the_pod', () => {
    const { connect } = podRoute('psk://192.0.2.1:1', TOKEN);
    const check = (certificate: object) =>
      connect.checkServerIdentity?.('192.0.2.1', certificate as PeerCertificate);
    expect(check({})).toBeUndefined();
    expect(check({ subject: { CN: '192.0.2.1' } })).toBeInstanceOf(Error);
  });

  it('an_address_of_an_unknown_kind_is_never_spoken_to_in_plain', () => {
    expect(() => podRoute('tcp://192.0.2.1:1', TOKEN)).toThrow('unknown kind');
  });
});

describe('podTls', () => {
  it('has_the_same_key_as_the_other_side_and_gives_it_to_our_name_only', () => {
    const { pskCallback, pskIdentityHint, handshakeTimeout } = podTls({
      token: TOKEN,
      podKey: 'ab'.repeat(16),
    });
    const ask = (name: string) => pskCallback?.(null as never, name);
    const { identity = '' } = podRoute('psk://192.0.2.1:1', TOKEN).connect.pskCallback?.() ?? {};
    expect(ask(identity)).toEqual(keyOf(TOKEN));
    expect(ask('somebody')).toBeNull();
    expect(pskIdentityHint).toBe('ab'.repeat(16));
    expect(handshakeTimeout).toBeLessThanOrEqual(15_000);
  });
});
