import { createHmac } from 'node:crypto';
import type { PeerCertificate, SecureVersion, TlsOptions } from 'node:tls';
import { PagefleetError } from '@pagefleet/contract';

/**
 * The only suite either side speaks: forward secret, so that a token that leaks later opens no page of before, and without
 * certificates, so that nobody can stand in with one. It needs TLS 1.2: in 1.3 a server without the key may still offer a
 * certificate.
 */
const SUITE = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const satisfies { ciphers: string; minVersion: SecureVersion; maxVersion: SecureVersion };

/** There is one key per pod, so the name of the key says nothing. */
const IDENTITY = 'pagefleet';
/** A connection that says nothing is closed after this time. */
const HANDSHAKE_MS = 10_000;

/** How a pod is reached: an HTTP origin, and what undici's connector has to be told. */
export interface PodRoute {
  readonly origin: string;
  readonly connect: PodConnect;
}

interface PodConnect {
  readonly allowH2: false;
  readonly ciphers?: string;
  readonly minVersion?: SecureVersion;
  readonly maxVersion?: SecureVersion;
  readonly maxCachedSessions?: 0;
  readonly pskCallback?: () => { psk: Buffer; identity: string };
  readonly checkServerIdentity?: (host: string, certificate: PeerCertificate) => Error | undefined;
}

/**
 * What a pod's URL means, known nowhere else: `http` is plain (on this machine), `psk` is TLS with a key made from the
 * pod's token, `https` is ordinary TLS through the provider's proxy. With `psk` nothing is written before the other side
 * has shown that it holds the key. Connections made with a route belong to its pod: sessions are not kept, since the
 * cache knows hosts, and one host carries many pods.
 */
export function podRoute(url: string, token: string): PodRoute {
  const { protocol, host } = new URL(url);
  switch (protocol) {
    case 'http:':
    case 'https:':
      return { origin: `${protocol}//${host}`, connect: { allowH2: false } };
    case 'psk:': {
      const psk = pskOf(token);
      const connect: PodConnect = {
        ...SUITE,
        allowH2: false,
        maxCachedSessions: 0,
        pskCallback: () => ({ psk, identity: IDENTITY }),
        checkServerIdentity: refuseCertificate,
      };
      return { origin: `https://${host}`, connect };
    }
    default:
      throw new PagefleetError('internal', `A pod has an address of the unknown kind ${protocol}`);
  }
}

/** The pod's side of `psk`: TLS with its key, and nothing else. */
export function podTls({ token, podKey }: { token: string; podKey: string }): TlsOptions {
  const psk = pskOf(token);
  return {
    ...SUITE,
    pskIdentityHint: podKey,
    pskCallback: (_socket, identity) => (identity === IDENTITY ? psk : null),
    handshakeTimeout: HANDSHAKE_MS,
  };
}

/** Not the token itself: what is shown in one place must not serve in another. */
function pskOf(token: string): Buffer {
  return createHmac('sha256', token).update('tls-psk').digest();
}

/** Our suite has none; whoever shows one is not the pod. */
function refuseCertificate(_host: string, certificate: PeerCertificate): Error | undefined {
  if (Object.keys(certificate ?? {}).length === 0) return undefined;
  return Object.assign(new Error('a pod showed a certificate'), { code: 'ERR_TLS_NO_PSK' });
}
