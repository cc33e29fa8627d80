import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ClusterSecret } from '../state/secret.ts';
import { constantTimeEqual, makeProof, podToken } from './pod-token.ts';

const secret: ClusterSecret = {
  v: 1,
  clusterId: 'c',
  current: 'new',
  keys: { old: '11'.repeat(32), new: '22'.repeat(32) },
};
const podKey = 'ab'.repeat(16);

describe('podToken (R-037)', () => {
  it('is_the_same_at_every_call_and_differs_by_pod_and_by_key', () => {
    const token = podToken(secret, 'old', podKey);
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(podToken(secret, 'old', podKey)).toBe(token);
    expect(podToken(secret, 'new', podKey)).not.toBe(token);
    expect(podToken(secret, 'old', 'cd'.repeat(16))).not.toBe(token);
  });

  it('stays_what_it_was_after_a_new_key_became_current', () => {
    const before = podToken({ ...secret, current: 'old' }, 'old', podKey);
    expect(podToken(secret, 'old', podKey)).toBe(before);
  });

  it('an_unknown_key_is_an_error_and_never_another_token', () => {
    expect(() => podToken(secret, 'gone', podKey)).toThrow('no key "gone"');
    expect(() => podToken(secret, 'constructor', podKey)).toThrow('no key');
  });
});

describe('makeProof', () => {
  it('is_the_hmac_of_side_and_nonce_under_the_token', () => {
    const expected = createHmac('sha256', 'tok').update('pod:n1').digest('hex');
    expect(makeProof('tok', 'pod', 'n1')).toBe(expected);
  });

  it('one_side_cannot_pass_for_the_other', () => {
    expect(makeProof('tok', 'pod', 'n1')).not.toBe(makeProof('tok', 'owner', 'n1'));
  });
});

describe('constantTimeEqual', () => {
  it('tells_equal_from_different_whatever_the_lengths', () => {
    expect(constantTimeEqual('abc', 'abc')).toBe(true);
    expect(constantTimeEqual('', '')).toBe(true);
    for (const other of ['abd', 'ab', 'abcd', '', 'ABC', 'é'])
      expect(constantTimeEqual('abc', other)).toBe(false);
  });
});
