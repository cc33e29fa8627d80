import type { Pod } from '@pagefleet/core';
import { type ClusterSecret, podToken } from '@pagefleet/runtime';
import type { Fleet } from './fleet.ts';
import type { KeyRef } from './journal/entries.ts';
import type { ListingKeeper } from './observe/listing-keeper.ts';

export interface PodTokens {
  /** null: launched with a secret that is not ours to know, so that nobody here can speak to it */
  tokenOf(pod: Pod): string | null;
  /** what the account says of a pod that is being adopted */
  keyRefOf(pod: Pod): KeyRef;
}

const MOST_KEPT = 10_000;

/** Each pod's own token, made from what it was launched with, for its whole life. */
export function createPodTokens(options: {
  readonly secret: ClusterSecret;
  readonly fleet: Fleet;
  readonly marks: ListingKeeper['marks'];
}): PodTokens {
  const { secret, fleet, marks } = options;
  // Every slice names tokens, many times a second; a pod's never changes.
  const made = new Map<string, string>();
  return {
    tokenOf(pod) {
      const { keyId } = fleet.registry.keyRef(pod.key);
      const name = `${keyId} ${pod.key}`;
      const known = made.get(name);
      if (known !== undefined || !Object.hasOwn(secret.keys, keyId)) return known ?? null;
      if (made.size >= MOST_KEPT) made.clear();
      const token = podToken(secret, keyId, ownKey(pod));
      made.set(name, token);
      return token;
    },
    keyRefOf(pod) {
      const mark = marks.get(ownKey(pod));
      return { keyId: mark?.keyId ?? secret.current, spot: mark?.spot ?? false };
    },
  };
}

/** A second pod bought under one key is held as `<key>/<id>`; it was told the key alone. */
function ownKey(pod: Pod): string {
  return pod.key.split('/')[0] ?? pod.key;
}
