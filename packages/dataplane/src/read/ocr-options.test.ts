import { describe, expect, test } from 'vitest';
import { optionsOfText } from './ocr-options.ts';

describe('options given as text', () => {
  test('each_is_taken_once_and_an_empty_one_is_none', () => {
    const options = optionsOfText(new URLSearchParams('pages=1&languages=eng,deu&model='));
    expect(options).toMatchObject({ pages: '1', languages: ['eng', 'deu'], model: null });
  });

  test.each(['pages=1&pages=2', 'pages=1&pages=1', 'pages=&pages=2', 'pages=2&model=ocr&pages='])(
    'one_given_twice_is_refused_by_name: %s',
    (query) => {
      expect(() => optionsOfText(new URLSearchParams(query))).toThrow(
        expect.objectContaining({
          code: 'bad_request',
          message: expect.stringContaining('pages is given more than once'),
          details: { param: 'pages' },
        }),
      );
    },
  );
});
