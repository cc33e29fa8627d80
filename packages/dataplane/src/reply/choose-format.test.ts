import { describe, expect, test } from 'vitest';
import { chooseFormat } from './choose-format.ts';

describe('the format of an answer', () => {
  test.each([
    [undefined, 'json'],
    ['*/*', 'json'],
    ['text/html,application/xhtml+xml', 'json'],
    ['application/x-ndjson', 'ndjson'],
    ['text/markdown', 'markdown'],
    ['Text/Plain; charset=utf-8', 'text'],
    ['text/plain;q=0.5, application/json;q=0.9', 'json'],
    ['application/json;q=0, text/plain', 'text'],
    ['application/json;q=x, text/plain;q=0.1', 'text'],
  ])('accept_%s_is_%s', (accept, format) => {
    expect(chooseFormat(accept, 'json')).toBe(format);
  });
});
