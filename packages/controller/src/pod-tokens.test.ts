import { type ClusterSecret, podToken } from '@pagefleet/runtime';
import { describe, expect, test } from 'vitest';
import type { Fleet } from './fleet.ts';
import { PodRegistry } from './pod-registry.ts';
import { createPodTokens } from './pod-tokens.ts';
import { keyOf, servingPod, T0 } from './test-kit/pods.ts';

const secret: ClusterSecret = {
  ...{ v: 1, clusterId: 'us', current: 'new' },
  keys: { old: 'a'.repeat(64), new: 'b'.repeat(64) },
};

function setUp() {
  const registry = new PodRegistry();
  const marks = new Map();
  const tokens = createPodTokens({ secret, fleet: { registry } as unknown as Fleet, marks });
  const enter = (name: string, keyId: string) => {
    const pod = servingPod(name);
    registry.enter({ pod, keyRef: { keyId, spot: false } }, T0);
    return pod;
  };
  return { tokens, marks, enter, registry };
}

describe('tokens (R-037, L7)', () => {
  test('each_pod_keeps_the_token_of_the_secret_it_was_launched_with_and_they_coexist', () => {
    const { tokens, enter } = setUp();
    const before = enter('a', 'old');
    const after = enter('b', 'new');
    const another = enter('c', 'old');
    for (let round = 0; round < 2; round += 1) {
      expect(tokens.tokenOf(before)).toBe(podToken(secret, 'old', before.key));
      expect(tokens.tokenOf(after)).toBe(podToken(secret, 'new', after.key));
      expect(tokens.tokenOf(another)).toBe(podToken(secret, 'old', another.key));
    }
  });

  test('a_pod_of_a_secret_that_is_lost_has_none', () => {
    const { tokens, enter } = setUp();
    expect(tokens.tokenOf(enter('a', 'lost'))).toBeNull();
  });

  test('an_adopted_pod_has_the_key_id_that_its_mark_says', () => {
    const { tokens, marks } = setUp();
    marks.set(keyOf('a'), { keyId: 'old', spot: true });
    const pod = servingPod('a');
    expect(tokens.keyRefOf(pod)).toEqual({ keyId: 'old', spot: true });
    expect(tokens.keyRefOf({ ...pod, key: `${pod.key}/id-2` })).toEqual({ keyId: 'old', spot: true });
  });

  test('a_second_pod_under_one_key_was_told_the_token_of_that_key', () => {
    const { tokens, registry } = setUp();
    const twin = { ...servingPod('a'), key: `${keyOf('a')}/id-2`, id: 'id-2' };
    registry.enter({ pod: twin, keyRef: { keyId: 'new', spot: false } }, T0);
    expect(tokens.tokenOf(twin)).toBe(podToken(secret, 'new', keyOf('a')));
  });
});
