import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { authenticate } from './authenticate.ts';

const sha256 = (key: string) => createHash('sha256').update(key).digest('hex');
const KEYS = [
  { name: 'ann', sha256: sha256('key-a'), role: 'client' },
  { name: 'bob', sha256: sha256('key-b'), role: 'operator' },
] as const;

describe('who may send pages', () => {
  test('a_known_key_gives_name_and_role', () => {
    expect(authenticate({ authorization: 'Bearer key-b' }, KEYS)).toEqual({ name: 'bob', role: 'operator' });
    expect(authenticate({ authorization: 'bearer key-a' }, KEYS)).toEqual({ name: 'ann', role: 'client' });
  });

  test.each([undefined, 'key-a', 'Basic key-a', 'Bearer ', 'Bearer key-c'])(
    '%s_is_not_let_in',
    (authorization) => {
      const headers = authorization === undefined ? {} : { authorization };
      expect(() => authenticate(headers, KEYS)).toThrow(expect.objectContaining({ code: 'unauthorized' }));
    },
  );

  test('without_keys_only_what_names_the_loopback_is_let_in', () => {
    for (const host of ['127.0.0.1:8080', 'localhost', '[::1]:80']) {
      expect(authenticate({ host, origin: 'http://localhost:3000' }, [])).toMatchObject({ role: 'client' });
    }
    for (const headers of [{ host: 'evil.example' }, { host: 'localhost', origin: 'https://evil.example' }]) {
      expect(() => authenticate(headers, [])).toThrow(expect.objectContaining({ code: 'forbidden' }));
    }
  });
});
