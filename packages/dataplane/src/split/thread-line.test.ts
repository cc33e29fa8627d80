import { setTimeout as sleep } from 'node:timers/promises';
import { deflateSync } from 'node:zlib';
import { Piscina } from 'piscina';
import { afterEach, expect, test } from 'vitest';
import { openRunner } from './split-runner.ts';
import type { SplitThreadTask } from './split-thread.ts';
import { openThreadLine } from './thread-line.ts';

const LIMITS = { maxPages: 10, maxPixels: 1_000_000 };
/** above what a thread may hold on to */
const GROWN_BYTES = 270 * 1024 * 1024;

let pool: Piscina<SplitThreadTask, void> | undefined;
afterEach(() => pool?.close({ force: true }));

/** One page; its content is so many blanks, packed. */
function pdfOf(blanks: number): Buffer {
  const content = deflateSync(Buffer.alloc(blanks, ' ')).toString('latin1');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R >>',
    `<< /Filter /FlateDecode /Length ${content.length} >>\nstream\n${content}\nendstream`,
  ].map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`);
  const offsets = objects.map((_, index) => 9 + objects.slice(0, index).join('').length);
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const body = `%PDF-1.7\n${objects.join('')}`;
  const end = `xref\n0 5\n0000000000 65535 f \n${table}trailer << /Size 5 /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`;
  return Buffer.from(body + end, 'latin1');
}

test('a_thread_ends_with_a_document_that_has_grown_its_memory_and_not_with_another (issue 2: a decompression bomb)', {
  timeout: 60_000,
}, async () => {
  const filename = new URL('./split-thread.ts', import.meta.url).href;
  pool = new Piscina({ filename, minThreads: 0, maxThreads: 1, idleTimeout: 60_000, atomics: 'disabled' });
  pool.on('error', () => undefined);
  const threads = pool;
  const split = async (bytes: Buffer): Promise<number | undefined> => {
    const line = openThreadLine(threads, { input: { bytes }, limits: LIMITS });
    const runner = await openRunner(line);
    expect((await runner.page(0)).kind).toBe('pdf');
    const id = threads.threads[0]?.threadId;
    runner.close();
    await line.ended.catch(() => undefined);
    return id;
  };
  const first = await split(pdfOf(100));
  expect(await split(pdfOf(GROWN_BYTES))).toBe(first);
  for (let n = 0; n < 100 && threads.threads.length > 0; n += 1) await sleep(20);
  expect(threads.threads).toHaveLength(0);
  expect(await split(pdfOf(100))).not.toBe(first);
});
