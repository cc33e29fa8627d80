import { describe, expect, test } from 'vitest';
import { openChildLine } from './child-line.ts';
import { openRunner, SplitterDied } from './split-runner.ts';

const LIMITS = { maxPages: 10, maxPixels: 1_000_000 };
const PDF = Buffer.from(
  [
    '%PDF-1.4',
    '1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj',
    '2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj',
    '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj',
    'trailer<</Root 1 0 R/Size 4>>',
    '%%EOF',
  ].join('\n'),
);

describe('a document in a process of its own', { timeout: 60_000 }, () => {
  test('is_opened_its_pages_come_one_by_one_and_the_process_ends_with_it', async () => {
    const line = openChildLine({ input: { bytes: PDF }, limits: LIMITS });
    const runner = await openRunner(line);
    expect(runner.pageCount).toBe(1);
    const page = await runner.page(0);
    expect(page.kind).toBe('pdf');
    expect(Buffer.from(page.bytes).subarray(0, 5).toString()).toBe('%PDF-');
    await expect(runner.page(7)).rejects.toMatchObject({ code: 'page_out_of_range' });
    runner.close();
    await line.ended;
  });

  test('that_is_ended_from_outside_is_a_death_and_no_answer', async () => {
    const line = openChildLine({ input: { bytes: PDF }, limits: LIMITS });
    const runner = await openRunner(line);
    line.kill();
    await expect(line.ended).rejects.toThrow('SIGKILL');
    const late = runner.page(0);
    await expect(Promise.race([late, line.ended])).rejects.toThrow();
    late.catch((error) => expect(error).toBeInstanceOf(SplitterDied));
  });
});
