import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { PagefleetError } from '@pagefleet/contract';
import type { ClusterSecret } from '../state/secret.ts';

/** The bearer token of one pod: the same for its whole life, whoever asks, before and after a restart. */
export function podToken(secret: ClusterSecret, keyId: string, podKey: string): string {
  const key = Object.hasOwn(secret.keys, keyId) ? secret.keys[keyId] : undefined;
  if (key === undefined) {
    throw new PagefleetError(
      'internal',
      `The cluster secret has no key "${keyId}": the token of a pod is unknown.`,
    );
  }
  return createHmac('sha256', Buffer.from(key, 'hex')).update(podKey).digest('hex');
}

/** Shows that one side holds the token without showing the token; see `PROOF_HEADERS`. */
export function makeProof(token: string, side: 'pod' | 'owner', nonce: string): string {
  return createHmac('sha256', token).update(`${side}:${nonce}`).digest('hex');
}

/** Takes as long for a wrong value as for the right one, also when the lengths differ. */
export function constantTimeEqual(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
