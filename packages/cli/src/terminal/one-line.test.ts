import fc from 'fast-check';
import { expect, test } from 'vitest';
import { oneLine } from './one-line.ts';
import { formatTable } from './table.ts';

test('line_ends_and_what_steers_a_terminal_become_blanks', () => {
  expect(oneLine(' Traceback:\r\n\t File "a"\u001b[2J\u009b31mred\u0007 ')).toBe(
    'Traceback: File "a" [2J 31mred',
  );
});

test('a_long_text_keeps_its_beginning_and_its_end', () => {
  expect(oneLine('the server did not start: a traceback: out of memory', 29)).toBe(
    'the server di … out of memory',
  );
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 10, max: 60 }), (text, most) => {
      expect(oneLine(text, most).length).toBeLessThanOrEqual(most);
    }),
  );
});

test('a_cell_of_a_table_is_one_line', () => {
  const rows = [
    ['p1', 'dead:\n  at a\n  at b'],
    ['p2', 'x'.repeat(1_000)],
  ];
  const lines = formatTable(['POD', 'WHY'], rows).split('\n');
  expect(lines.length).toBe(3);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(250);
});
