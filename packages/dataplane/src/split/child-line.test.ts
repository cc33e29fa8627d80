import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
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

  describe.runIf(process.platform === 'linux')('and_a_bound_on_its_memory', () => {
    const MB = 1024 * 1024;
    const MOST_BYTES = 384 * MB;
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'pf-split-'));
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    /** A PDF with a hole before its last lines; the child holds it twice, in a buffer and in the reader's memory. */
    function pdfOf(bytes: number): string {
      const path = join(folder, 'a.pdf');
      writeFileSync(path, PDF.subarray(0, PDF.indexOf('trailer')));
      truncateSync(path, bytes);
      appendFileSync(path, PDF.subarray(PDF.indexOf('trailer')));
      return path;
    }

    test('below_it_the_document_is_opened', async () => {
      const line = openChildLine({ input: { path: pdfOf(8 * MB) }, limits: LIMITS }, MOST_BYTES);
      const runner = await openRunner(line);
      expect(runner.pageCount).toBe(1);
      runner.close();
      await line.ended;
    });

    test('above_it_the_process_is_killed_and_the_document_was_its_death', async () => {
      const line = openChildLine({ input: { path: pdfOf(300 * MB) }, limits: LIMITS }, MOST_BYTES);
      const opened = openRunner(line).then((runner) => runner.page(0).then(() => sleep(10_000)));
      opened.catch(() => undefined);
      await expect(line.ended).rejects.toThrow('SIGKILL');
      await expect(Promise.race([opened, sleep(5_000)])).rejects.toBeInstanceOf(SplitterDied);
    });
  });

  describe('whose_process_is_not_there', () => {
    const node = process.execPath;
    afterEach(() => {
      process.execPath = node;
    });

    test('because_none_can_be_started_is_not_damaged: the_shortage_is_ours (R-026)', async () => {
      process.execPath = join(tmpdir(), 'no-such-node');
      const opening = openRunner(openChildLine({ input: { bytes: PDF }, limits: LIMITS }));
      await expect(opening).rejects.toMatchObject({ code: 'local_shortage' });
    });

    test('any_more_may_be_asked_on_without_harm_to_ours (R-008)', async () => {
      const line = openChildLine({ input: { bytes: PDF }, limits: LIMITS });
      await openRunner(line);
      line.kill();
      // The loop is held up, so that its pipe is broken before its exit is heard of.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      for (let asks = 0; asks < 3; asks += 1) line.ask({ kind: 'page', index: 0 });
      await expect(line.ended).rejects.toThrow();
      await sleep(100);
    });
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
