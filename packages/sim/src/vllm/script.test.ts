import { expect, test } from 'vitest';
import type { Asked } from './asked.ts';
import { createRules } from './choose-rule.ts';
import { sha256 } from './hash.ts';
import { parseScript } from './script.ts';

const ASKED: Asked = {
  ...{ path: '/v1/chat/completions', model: 'm', promptText: 'read it', lastText: 'read it', prefix: '' },
  ...{ promptTokens: 5, maxTokens: 10, stream: true, includeUsage: false, topLogprobs: null, stop: [] },
  ...{ ignoreEos: false, pictures: [], page: null, body: {}, hash: sha256('1') },
};

test('a script that is wrong is refused with the field and what was expected', () => {
  const refused = (script: unknown) => () => parseScript(JSON.stringify(script));
  expect(refused({ tokenPerS: 1 })).toThrow('script.tokenPerS: unknown; expected one of startMs');
  expect(refused({ startFails: 'fire' })).toThrow('script.startFails: expected "oom" or "exit", got "fire"');
  expect(refused({ rules: [{ reply: { loop: '' } }] })).toThrow('script.rules[0].reply.loop');
  expect(refused({ rules: [{ when: { page: 1 }, reply: {} }] })).toThrow('when.page: expected string, got 1');
  expect(refused({ rules: [{ reply: { error: { status: 200 } } }] })).toThrow('expected 400 or more');
  expect(refused({ rules: [{ when: {} }] })).toThrow('script.rules[0].reply');
});

test('the first rule that fits is taken, and the nth counts those that fit the rest', () => {
  const rules = createRules();
  const script = parseScript(
    JSON.stringify({
      rules: [
        { when: { textContains: 'nothing' }, reply: { text: 'no' } },
        { when: { textContains: 'read', nth: [2, 4] }, reply: { text: 'even' } },
        { when: { stream: true }, reply: { text: 'other' } },
      ],
    }),
  );
  const texts = [1, 2, 3, 4, 5].map(() => rules.choose(ASKED, script).text);
  expect(texts).toEqual(['other', 'even', 'other', 'even', 'other']);
  expect(rules.choose({ ...ASKED, stream: false, promptText: '' }, script)).toEqual({});
});

test('a share falls on about so many requests and always on the same ones', () => {
  const script = parseScript('{"rules":[{"when":{"share":0.04},"reply":{"loop":"a "}}]}');
  const loops = (): string[] =>
    Array.from({ length: 4_000 }, (_, at) => sha256(String(at))).filter(
      (hash) => createRules().choose({ ...ASKED, hash }, script).loop !== undefined,
    );
  const first = loops();
  expect(first.length).toBeGreaterThan(100);
  expect(first.length).toBeLessThan(220);
  expect(loops()).toEqual(first);
});
