import { describe, expect, test } from 'vitest';
import { parserOf } from './parser-of.ts';
import type { ParsedReply } from './profile-parser.ts';

const PICTURE = { width: 1_000, height: 2_000 };
const surya = (reply: string) => parserOf('surya', true)(reply, PICTURE);
const chandra = (reply: string) => parserOf('chandra', false)(reply, PICTURE);
const olmocr = (reply: string) => parserOf('olmocr', false)(reply, PICTURE);

function pageOf(parsed: ParsedReply) {
  if (parsed.kind !== 'page') throw new Error(`no page: ${JSON.stringify(parsed)}`);
  return parsed;
}

const LETTER = `<div data-label="Page-Header" data-bbox="100 10 900 30"><p>Annual report</p></div>
<div data-label="Section-Header" data-bbox="100 50 900 80">Results &amp; outlook</div>
<div data-label="Text" data-bbox="100 100 900 400"><p>Sales grew by <b>4 %</b>.</p><p>Costs fell.</p></div>
<div data-label="List-Group" data-bbox="100 410 900 500"><ul><li>north<ul><li>coast</li></ul></li><li>south</li></ul></div>
<div data-label="Table" data-bbox="100 510 900 700"><table><tr><th colspan="2">Year</th></tr><tr><td>2019</td><td>4.1</td></tr></table></div>
<div data-label="Equation" data-bbox="100 710 900 750"><math display="block">E = mc^2</math></div>
<div data-label="Code" data-bbox="100 760 900 800">a = 1<br>b = 2</div>
<div data-label="Page-Footer" data-bbox="480 980 520 990">17</div>`;

describe('a page of Surya', () => {
  const page = pageOf(surya(LETTER));

  test('is_markdown_with_tables_as_html_and_formulas_between_dollars (R-070)', () => {
    expect(page.markdown).toContain('## Results & outlook');
    expect(page.markdown).toContain('Sales grew by **4 %**.\n\nCosts fell.');
    expect(page.markdown).toMatch(/<table>.*<th colspan="2">Year<\/th>.*<\/table>/s);
    expect(page.markdown).toContain('$$E = mc^2$$');
    expect(page.markdown).toContain('```\na = 1\nb = 2\n```');
  });

  test('is_text_without_marks_and_without_running_heads', () => {
    expect(page.text).toContain('Sales grew by 4 %.\nCosts fell.');
    expect(page.text).toContain('2019\t4.1');
    expect(page.text).toContain('a = 1\nb = 2');
    expect(page.text).not.toContain('Annual report');
    expect(page.text).not.toMatch(/^17$/m);
  });

  test('has_a_block_for_each_of_its_parts_in_pixels_of_the_picture', () => {
    expect(page.blocks?.map(({ kind }) => kind)).toEqual(
      'header title text list table equation code footer'.split(' '),
    );
    expect(page.blocks?.[1]?.box).toEqual({ x0: 100, y0: 100, x1: 900, y1: 160 });
  });

  test('keeps_accents_beside_their_letters_together_where_they_are_no_apostrophes', () => {
    const said = (text: string) =>
      pageOf(surya(`<div data-label="Text" data-bbox="0 0 9 9">${text}</div>`)).text;
    expect(said('cafe´ de´ja`')).toBe('café déja`');
    expect(said('l´homme don´t')).toBe('l´homme don´t');
  });
});

test('chandras_boxes_run_to_1024', () => {
  const page = pageOf(chandra('<div data-label="Text" data-bbox="0 0 1024 512">x</div>'));
  expect(page.blocks?.[0]?.box).toEqual({ x0: 0, y0: 0, x1: 1_000, y1: 1_000 });
});

describe.each([
  ['surya', surya],
  ['chandra', chandra],
])('a reply of %s', (_name, parse) => {
  test.each([
    ['that_is_empty', ''],
    ['in_words_only', 'I am sorry, I cannot read this page.'],
    ['without_labels', '<div><p>text</p></div>'],
    ['that_nests_without_end', `<div data-label="Text" data-bbox="0 0 9 9">${'<ul><li>'.repeat(400)}x</div>`],
  ])('%s_is_invalid_and_says_why', (_what, reply) => {
    expect(parse(reply)).toMatchObject({ kind: 'invalid', why: expect.stringMatching(/./) });
  });

  test.each([
    ['in_a_fence', (html: string) => `Here it is:\n\`\`\`html\n${html}\n\`\`\``],
    ['in_a_wrapper', (html: string) => `<html><body><div class="page">${html}</div></body></html>`],
    ['cut_in_a_tag', (html: string) => `${html}<div data-label="Text" data-bb`],
    [
      'cut_in_a_table',
      (html: string) => `${html}<div data-label="Table" data-bbox="0 0 9 9"><table><tr><td>1</td><td>2`,
    ],
  ])('%s_is_read_all_the_same', (_what, wrap) => {
    const page = pageOf(parse(wrap('<div data-label="Text" data-bbox="0 0 9 9">first words</div>')));
    expect(page.text).toMatch(/^first words/);
    expect(page.blocks?.[0]).toMatchObject({ kind: 'text', text: 'first words' });
  });

  test.each([
    ['no_box', ''],
    ['words', 'data-bbox="left top right bottom"'],
    ['three_numbers', 'data-bbox="1 2 3"'],
    ['corners_in_the_wrong_order', 'data-bbox="900 900 100 100"'],
  ])('with_%s_has_the_box_of_the_whole_picture', (_what, attribute) => {
    const page = pageOf(parse(`<div data-label="Text" ${attribute}>x</div>`));
    expect(page.blocks?.[0]?.box).toEqual({ x0: 0, y0: 0, x1: 1_000, y1: 2_000 });
  });

  test('with_a_box_beyond_the_page_has_one_inside', () => {
    const page = pageOf(parse('<div data-label="Text" data-bbox="-50 0 5000 9000">x</div>'));
    expect(page.blocks?.[0]?.box).toEqual({ x0: 0, y0: 0, x1: 1_000, y1: 2_000 });
  });

  test('with_a_missing_end_tag_loses_no_block', () => {
    const page = pageOf(
      parse(
        '<div data-label="Text" data-bbox="0 0 9 9">one<div data-label="Text" data-bbox="0 9 9 20">two</div>',
      ),
    );
    expect(page.blocks?.map(({ text }) => text)).toEqual(['one', 'two']);
  });

  test('of_a_blank_page_is_a_page_with_nothing_on_it', () => {
    const blank = '<div data-label="Blank-Page" data-bbox="0 0 1000 1000"></div>';
    expect(pageOf(parse(blank))).toEqual({ kind: 'page', text: '', markdown: '', blocks: [] });
  });
});

describe('a reply of olmOCR', () => {
  const matter = (more = 'is_rotation_valid: true\nrotation_correction: 0') =>
    `---\nprimary_language: en\n${more}\nis_table: false\nis_diagram: false\n---\n`;

  test('is_markdown_behind_a_front_matter (R-070)', () => {
    const reply = `${matter()}# Title\n\nSome **bold** words.\n\n<table><tr><td>1</td><td>2</td></tr></table>`;
    const page = pageOf(olmocr(reply));
    expect(page.markdown).toMatch(/^# Title\n\nSome \*\*bold\*\* words\.\n\n<table>/);
    expect(page.text).toMatch(/^Title\n\nSome bold words\.\n\n1\t2/);
    expect(page.blocks).toBeNull();
  });

  test.each([90, 180, 270] as const)('that_wants_the_page_turned_by_%i_says_so', (by) => {
    const reply = `${matter(`is_rotation_valid: false\nrotation_correction: ${by}`)}text`;
    expect(olmocr(reply)).toEqual({ kind: 'turned', by });
  });

  test('that_calls_the_rotation_wrong_and_names_no_turn_is_a_page', () => {
    expect(olmocr(`${matter('is_rotation_valid: false\nrotation_correction: 0')}text`).kind).toBe('page');
  });

  test.each([
    ['no_front_matter', '# Title\n\nwords'],
    ['one_that_does_not_end', '---\nprimary_language: en\nis_rotation_valid: true\nwords'],
    ['one_that_is_no_yaml', '---\n: : [\n---\nwords'],
    ['one_that_is_a_list', '---\n- a\n- b\n---\nwords'],
    ['one_without_the_verdict', '---\nprimary_language: en\n---\nwords'],
    ['nothing', ''],
  ])('with_%s_is_invalid_and_says_why', (_what, reply) => {
    expect(olmocr(reply)).toMatchObject({ kind: 'invalid', why: expect.stringMatching(/./) });
  });

  test('of_an_empty_page_is_one', () => {
    expect(pageOf(olmocr(matter())).text).toBe('');
  });
});
