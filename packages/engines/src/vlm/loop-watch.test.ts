import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endsInLoop } from './ends-in-loop.ts';
import { createLoopWatch, type LoopThresholds } from './loop-watch.ts';

const THRESHOLDS: LoopThresholds = { firstLook: 2_000, step: 500, hits: 2 };

/** Prose that repeats nothing. */
function prose(length: number): string {
  let text = '';
  for (let n = 1; text.length < length; n += 1) text += `Sentence ${n} says that ${n * n} is ${n} squared. `;
  return text.slice(0, length);
}

/** Where a reply is found to loop when it comes in pieces of these lengths; null: nowhere. */
function foundAt(reply: string, pieces: readonly number[], thresholds = THRESHOLDS): number | null {
  const watch = createLoopWatch(thresholds);
  let at = 0;
  for (const length of [...pieces, reply.length]) {
    if (at >= reply.length) break;
    const loops = watch.add(reply.slice(at, at + length));
    at = Math.min(reply.length, at + length);
    if (loops) return at;
  }
  return null;
}

describe('a text that ends in a loop (contract 3.4)', () => {
  it.each([
    [1, 16],
    [2, 10],
    [3, 8],
    [4, 7],
    [6, 6],
    [12, 5],
    [13, 4],
    [250, 4],
  ])('a_piece_of_%i_characters_may_stand_%i_times', (length, allowed) => {
    const piece = prose(4_000).replaceAll(' ', '').slice(-length);
    expect(endsInLoop(`${prose(300)}#${piece.repeat(allowed)}`)).toBe(false);
    expect(endsInLoop(`${prose(300)}#${piece.repeat(allowed + 1)}`)).toBe(true);
  });

  it('a_loop_that_was_left_a_moment_ago_is_one', () => {
    const loop = 'the same words again and '.repeat(12);
    expect(endsInLoop(`${prose(500)}${loop}${'0123456789'.repeat(4)}`)).toBe(true);
    expect(endsInLoop(`${prose(500)}${loop}${prose(120)}`)).toBe(false);
  });

  it.each([
    ['a contents line', `Chapter 1 ${'. '.repeat(60)}17`],
    ['dots', `Index ${'.'.repeat(200)}`],
    ['ellipses', `Index ${'…'.repeat(80)}`],
    ['a rule', `Name ${'_'.repeat(120)}`],
    ['a blank form', `<table>${'<tr><td></td><td></td><td></td></tr>\n'.repeat(40)}`],
    ['an empty pipe table', `| a | b |\n${'|   |   |\n'.repeat(30)}`],
    ['blank lines', `end${'\n'.repeat(60)}`],
  ])('%s_is_none', (_, end) => {
    expect(endsInLoop(prose(1_000) + end)).toBe(false);
  });

  it.each([
    ['white space till the budget ends', ' \n'.repeat(3_000)],
    ['dots without end', '.'.repeat(3_000)],
    ['empty rows without end', '<tr><td></td></tr>'.repeat(900)],
  ])('%s_is_one', (_, end) => {
    expect(endsInLoop(prose(1_000) + end)).toBe(true);
  });

  it.each([
    ['rows of zeros', '<tr><td>0.00</td><td>0.00</td></tr>', 90],
    ['lines to sign', `Name ${'_'.repeat(40)} Signature ${'_'.repeat(40)}\n`, 45],
    ['rows of which one cell is filled', '<tr><td>Signature</td><td></td><td></td></tr>\n', 90],
  ])('%s_are_none_as_many_as_a_page_has_and_one_without_end', (_, line, most) => {
    expect(endsInLoop(prose(1_000) + line.repeat(most))).toBe(false);
    expect(endsInLoop(prose(1_000) + line.repeat(200))).toBe(true);
  });

  it('prose_numbered_tables_and_forms_are_none', () => {
    const table = Array.from({ length: 80 }, (_, n) => `<tr><td>${n}</td><td>${n * 7}.00</td></tr>`).join('');
    const form = Array.from({ length: 40 }, (_, n) => `Question ${n + 1}: ☐ yes ☐ no\n`).join('');
    for (const text of [prose(5_000), table, form]) {
      for (let end = 100; end <= text.length; end += 50)
        expect(endsInLoop(text.slice(0, end)), text.slice(0, 40)).toBe(false);
    }
  });
});

describe('a reply that is watched while it comes (R-071)', () => {
  const LOOPING = prose(2_600) + 'and so on and on it went, '.repeat(400);
  const pieces = fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 60 });

  it('is_left_at_the_second_look_in_a_row_that_finds_a_loop', () => {
    expect(foundAt(LOOPING, Array(5_000).fill(1))).toBe(3_500);
    expect(foundAt(LOOPING, Array(5_000).fill(1), { ...THRESHOLDS, hits: 1 })).toBe(3_000);
    expect(foundAt('ab'.repeat(5_000), Array(10_000).fill(1))).toBe(2_500);
  });

  it('is_left_after_the_same_text_however_it_was_cut', () => {
    fc.assert(
      fc.property(pieces, (cut) => {
        const at = foundAt(LOOPING, cut);
        let end = 0;
        for (const length of [...cut, LOOPING.length]) {
          end = Math.min(LOOPING.length, end + length);
          if (end >= 3_500) break;
        }
        expect(at).toBe(end);
      }),
    );
  });

  it('is_never_left_before_the_first_look_nor_for_one_hit', () => {
    expect(foundAt('ab'.repeat(999), [])).toBe(null);
    const once = prose(2_000 - 400) + 'x y z '.repeat(70) + prose(4_000);
    expect(endsInLoop(once.slice(0, 2_000))).toBe(true);
    expect(foundAt(once, Array(100).fill(97))).toBe(null);
  });

  it('stays_found', () => {
    const watch = createLoopWatch(THRESHOLDS);
    expect(watch.add('ab'.repeat(2_000))).toBe(true);
    expect(watch.add(prose(3_000))).toBe(true);
    expect(watch.text).toHaveLength(7_000);
  });
});
