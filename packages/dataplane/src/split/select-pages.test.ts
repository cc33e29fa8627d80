import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { selectPages } from './select-pages.ts';

describe('the pages a client asks for', () => {
  test.each([
    [null, [0, 1, 2, 3, 4]],
    [
      [3, 1, 3],
      [1, 3],
    ],
    ['0-2', [0, 1, 2]],
    ['4, 0 - 1', [0, 1, 4]],
    ['2', [2]],
  ])('%j_of_five_pages_is_%j', (selection, pages) => {
    expect(selectPages(selection, 5)).toEqual(pages);
  });

  test.each([[[]], [''], ['a'], ['3-1'], ['1-'], ['-1'], ['1,,2'], ['1.5']])(
    '%j_is_no_selection',
    (selection) => {
      expect(() => selectPages(selection, 5)).toThrow(expect.objectContaining({ code: 'bad_request' }));
    },
  );

  test.each([[[5]], ['3-5'], ['999999999']])('%j_is_out_of_range', (selection) => {
    expect(() => selectPages(selection, 5)).toThrow(expect.objectContaining({ code: 'page_out_of_range' }));
  });

  test('any_list_gives_each_of_its_pages_once_in_page_order', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(19), { minLength: 1 }), (list) => {
        const sorted = [...new Set(list)].sort((a, b) => a - b);
        expect(selectPages(list, 20)).toEqual(sorted);
        expect(selectPages(list.join(','), 20)).toEqual(sorted);
      }),
    );
  });
});
