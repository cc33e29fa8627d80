import { type ListedPod, NO_LISTING, type Pod, transition } from '@pagefleet/core';
import { describe, expect, test } from 'vitest';
import { keyOf, rentingPod, servingPod, T0 } from '../test-kit/pods.ts';
import { podsLeft } from './pods-left.ts';

function left(pods: readonly Pod[], listed: readonly ListedPod[] = []) {
  const newest = { startedAtMs: T0, endedAtMs: T0, pods: listed };
  const registry = new Map(pods.map((pod) => [pod.key, pod]));
  return podsLeft({ clusterId: 'us', registry, listing: { ...NO_LISTING, newest } });
}

function gone(pod: Pod): Pod {
  const result = transition(pod, { kind: 'gone', why: 'gone' }, T0);
  if (!result.legal) throw new Error('not gone');
  return result.pod;
}

describe('what a controller that leaves names as left running', () => {
  test('nothing_is_said_when_no_pod_is_left', () => {
    expect(left([])).toBeNull();
    expect(left([gone(servingPod('a'))])).toBeNull();
  });

  test('every_pod_is_named_with_what_they_bill_also_one_that_was_just_asked_for', () => {
    const dear = { ...servingPod('a'), priceUsdPerHour: 2 };
    expect(left([dear, rentingPod('b')])).toEqual({
      pods: [
        { pod: 'id-a', state: 'serving' },
        { pod: 'b', state: 'renting' },
      ],
      ...{ usdPerHour: 2, unpricedPods: 0 },
    });
  });

  test('money_is_never_shown_without_the_pods_it_pays_for (R-050)', () => {
    const mark = { clusterId: 'us', podKey: keyOf('z'), pool: 'ocr', width: 1, configHash: 'h', spot: false };
    const stray: ListedPod = {
      ...{ id: 'id-z', name: 'z', status: 'running', url: null, createdAtMs: T0, priceUsdPerHour: 3, mark },
      ...{ card: null, cloud: null },
    };
    expect(left([], [stray])).toEqual({
      pods: [{ pod: 'id-z', state: 'listed' }],
      ...{ usdPerHour: 3, unpricedPods: 0 },
    });
  });
});
