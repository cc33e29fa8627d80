import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawPicture, type Picture } from '../../../packages/engines/src/document/draw-picture.ts';
import { createJsRecogniser } from '../../../packages/engines/src/tesseract/js-recogniser.ts';
import { createJsWorkers } from '../../../packages/engines/src/tesseract/js-workers.ts';
import { createLanguageFolder } from '../../../packages/engines/src/tesseract/language-folder.ts';
import type { Recogniser } from '../../../packages/engines/src/tesseract/recogniser.ts';
import { corpusMissing, corpusPath } from '../../corpus.ts';

const SIGNAL = new AbortController().signal;
const LIMITS = { maxPixels: 40_000_000 };

async function blank(width = 600, height = 400): Promise<Picture> {
  const png = await sharp({ create: { width, height, channels: 3, background: 'white' } })
    .png()
    .toBuffer();
  return { png, width, height, dpi: 200 };
}

const fromCorpus = (name: string) => drawPicture(readFileSync(corpusPath('pages', name)), 0, LIMITS);

describe('the traps of tesseract.js (contract 4.3)', () => {
  let recogniser: Recogniser;

  beforeAll(async () => {
    recogniser = createJsRecogniser(1);
    await recogniser.open();
  });
  afterAll(() => recogniser.close());

  test('traps_1_and_2_a_bad_picture_is_an_error_with_a_code_and_the_process_lives', async () => {
    for (const png of [Buffer.from('no picture'), Buffer.alloc(0), (await blank()).png.subarray(0, 50)]) {
      const reading = recogniser.recognise({ png, width: 1, height: 1, dpi: null }, ['eng'], SIGNAL);
      await expect(reading).rejects.toMatchObject({ name: 'PagefleetError', code: 'engine_failed' });
    }
    expect((await recogniser.recognise(await blank(), ['eng'], SIGNAL)).blocks).toEqual([]);
  });

  test('trap_4_language_data_comes_from_the_packages_and_leaves_no_file_behind', async () => {
    await recogniser.recognise(await blank(), ['fra', 'eng'], SIGNAL);
    expect(
      existsSync('eng.traineddata') || existsSync('fra.traineddata') || existsSync('osd.traineddata'),
    ).toBe(false);
    expect(recogniser.languages()).toEqual(['eng', 'fra']);
  });

  test.skipIf(corpusMissing)('trap_5_an_abort_settles_at_once_and_the_next_page_is_read', async () => {
    const abort = new AbortController();
    const page = await fromCorpus('linn.png');
    const reading = recogniser.recognise(page, ['eng'], abort.signal);
    setTimeout(() => abort.abort(new Error('enough')), 100);
    const startedMs = performance.now();
    await expect(reading).rejects.toThrow('enough');
    expect(performance.now() - startedMs).toBeLessThan(3_000);
    expect((await recogniser.recognise(await blank(), ['eng'], SIGNAL)).blocks).toEqual([]);
  });

  test('trap_7_a_blank_page_is_empty_and_its_orientation_unknown', async () => {
    expect((await recogniser.recognise(await blank(), ['eng'], SIGNAL)).blocks).toEqual([]);
    expect(await recogniser.detectRotation(await blank(), SIGNAL)).toBeNull();
  });

  test.skipIf(corpusMissing)(
    'the_orientation_of_a_turned_page_is_detected',
    { timeout: 120_000 },
    async () => {
      expect(await recogniser.detectRotation(await fromCorpus('rintro30-sideways.png'), SIGNAL)).toBe(270);
      expect(await recogniser.detectRotation(await fromCorpus('rintro30.png'), SIGNAL)).toBe(0);
    },
  );
});

describe('the set of workers (contract 4.3, traps 8 and 10)', () => {
  async function withWorkers(
    options: { size: number; pagesPerWorker: number; languages?: string[] },
    use: (workers: ReturnType<typeof createJsWorkers>) => Promise<void>,
  ): Promise<void> {
    const folder = await createLanguageFolder();
    const workers = createJsWorkers({
      languages: ['eng'],
      engineMode: 1,
      worker: { langPath: folder.path, gzip: true, cacheMethod: 'none' },
      ...options,
    });
    try {
      await use(workers);
    } finally {
      await workers.close();
      await folder.remove();
      expect(await readdir(folder.path).catch(() => 'gone')).toBe('gone');
    }
  }

  test('a_worker_is_replaced_after_its_pages', async () => {
    await withWorkers({ size: 1, pagesPerWorker: 2 }, async (workers) => {
      await workers.open();
      const seen = [];
      for (let page = 0; page < 5; page += 1)
        seen.push(await workers.use(async (worker) => worker.api, SIGNAL));
      expect(seen[0]).toBe(seen[1]);
      expect(seen[2]).toBe(seen[3]);
      expect(new Set(seen).size).toBe(3);
    });
  });

  test('never_more_jobs_than_workers_at_once', async () => {
    await withWorkers({ size: 2, pagesPerWorker: 100 }, async (workers) => {
      await workers.open();
      let running = 0;
      let most = 0;
      const job = async (): Promise<void> => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 20));
        running -= 1;
      };
      await Promise.all([1, 2, 3, 4, 5].map(() => workers.use(job, SIGNAL)));
      expect(most).toBe(2);
    });
  });

  test('a_thread_that_dies_in_the_middle_fails_its_page_and_is_replaced', async () => {
    await withWorkers({ size: 1, pagesPerWorker: 100 }, async (workers) => {
      await workers.open();
      const dying = workers.use(async ({ api }) => {
        await (api as unknown as { worker: { terminate(): Promise<number> } }).worker.terminate();
        await new Promise(() => undefined);
      }, SIGNAL);
      await expect(dying).rejects.toThrow('the tesseract.js thread ended');
      expect(await workers.use(async (worker) => worker.languages, SIGNAL)).toBe('eng');
    });
  });

  test('what_an_aborted_job_still_asks_of_its_ended_worker_ends_nobody_else', async () => {
    await withWorkers({ size: 1, pagesPerWorker: 100 }, async (workers) => {
      await workers.open();
      const unhandled: unknown[] = [];
      const note = (cause: unknown) => unhandled.push(cause);
      process.prependListener('unhandledRejection', note);
      const abort = new AbortController();
      const begun = Promise.withResolvers<void>();
      const ended = Promise.withResolvers<void>();
      const job = workers.use(async ({ api }) => {
        begun.resolve();
        await ended.promise;
        await api.setParameters({});
      }, abort.signal);
      await begun.promise;
      abort.abort(new Error('enough'));
      await expect(job).rejects.toThrow('enough');
      ended.resolve();
      await new Promise((resolve) => setTimeout(resolve, 50));
      process.off('unhandledRejection', note);
      expect(unhandled).toEqual([]);
    });
  });

  test('language_data_that_is_not_there_fails_the_start_instead_of_waiting_for_ever', async () => {
    await withWorkers({ size: 1, pagesPerWorker: 100, languages: ['xyz'] }, async (workers) => {
      await expect(workers.open()).rejects.toMatchObject({
        code: 'engine_failed',
        message: /xyz\.traineddata/,
      });
    });
  });
});
