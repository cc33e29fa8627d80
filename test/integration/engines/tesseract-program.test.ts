import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PageOptions } from '@pagefleet/contract';
import { createEngine, type Engine, type TesseractSettings } from '@pagefleet/engines';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createCliRecogniser,
  findTesseract,
} from '../../../packages/engines/src/tesseract/cli-recogniser.ts';
import { corpusMissing, corpusPath } from '../../corpus.ts';

const SETTINGS: TesseractSettings = {
  kind: 'tesseract',
  width: 2,
  languages: ['eng'],
  dpi: 200,
  pageTimeoutMs: 60_000,
  implementation: 'auto',
  maxPixels: 40_000_000,
};

const white = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: 'white' } })
    .png()
    .toBuffer();

const page = (bytes: Uint8Array, options: PageOptions = {}, signal = new AbortController().signal) => ({
  bytes,
  kind: 'png' as const,
  options,
  signal,
});

let engine: Engine;
beforeAll(async () => {
  engine = createEngine(SETTINGS);
  await engine.start();
});
afterAll(() => engine?.close());

describe.skipIf(findTesseract() === null)('the program tesseract', () => {
  test('auto_takes_the_program_and_says_its_version', () => {
    expect(engine.name).toBe('tesseract');
    expect(engine.version).toMatch(/^\d+\.\d+/);
    expect(engine.state()).toBe('ready');
  });

  test('a_language_of_the_pool_that_is_not_installed_keeps_it_from_starting', async () => {
    const lacking = createEngine({ ...SETTINGS, languages: ['xyz'] });
    await expect(lacking.start()).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('language xyz is not installed'),
    });
    expect(lacking.state()).toBe('dead');
    await lacking.close();
  });

  test('a_blank_page_is_empty_and_no_error', async () => {
    expect(await engine.read(page(await white(1700, 2200)))).toMatchObject({
      text: '',
      confidence: null,
      rotation: 0,
    });
  });

  test.each([
    [1, 1],
    [3, 2000],
    [33_000, 20],
  ])('a_picture_of_%i_by_%i_pixels_is_read_as_blank', async (width, height) => {
    expect(await engine.read(page(await white(width, height)))).toMatchObject({ text: '', confidence: null });
  });

  test.skipIf(corpusMissing)('words_and_blocks_come_with_boxes_inside_the_page', async () => {
    const picture = readFileSync(corpusPath('pages', 'phototest.png'));
    const result = await engine.read(page(picture, { words: true, blocks: true }));
    expect(result.words?.map(({ text }) => text).slice(0, 4)).toEqual(['This', 'is', 'a', 'lot']);
    expect(result.blocks?.map(({ text }) => text).join('\n\n')).toBe(result.text);
    for (const { box } of result.words ?? []) {
      expect(box.x1 <= result.width && box.y1 <= result.height && box.x0 < box.x1 && box.y0 < box.y1).toBe(
        true,
      );
    }
  });

  test('a_language_that_is_not_installed_is_refused_and_what_is_installed_is_named', async () => {
    const reading = engine.read(page(await white(100, 100), { languages: ['xxx'] }));
    await expect(reading).rejects.toMatchObject({
      code: 'bad_request',
      message: /xxx is not installed; installed are .*eng/,
    });
  });

  test('bytes_that_are_no_picture_are_an_unreadable_page_and_the_engine_stays', async () => {
    await expect(engine.read(page(Buffer.from('no picture')))).rejects.toMatchObject({
      code: 'page_unreadable',
    });
    await expect(engine.read(page(Buffer.alloc(0)))).rejects.toMatchObject({ code: 'page_unreadable' });
    expect(engine.state()).toBe('ready');
  });
});

/** A program in tesseract's place that notes how it was called and then does as it is told. */
async function withProgram(
  body: string,
  use: (program: string, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'pagefleet-program-'));
  const program = join(folder, 'tesseract');
  await writeFile(program, `#!/bin/sh\necho "$OMP_THREAD_LIMIT $*" >> ${folder}/calls\n${body}\n`);
  await chmod(program, 0o755);
  try {
    await use(program, folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('how the program is run', () => {
  const picture = { png: Buffer.from('png'), width: 10, height: 10, dpi: 300 };
  const signal = new AbortController().signal;

  test('one_recognition_with_one_thread_and_automatic_segmentation_gives_everything', async () => {
    await withProgram('cat > /dev/null', async (program, folder) => {
      await createCliRecogniser(program).recognise(picture, ['eng', 'fra'], signal);
      const calls = await readFile(join(folder, 'calls'), 'utf8');
      expect(calls).toBe('1 stdin stdout --psm 3 -l eng+fra --dpi 300 tsv\n');
    });
  });

  test('without_a_density_none_is_told', async () => {
    await withProgram('cat > /dev/null', async (program, folder) => {
      await createCliRecogniser(program).recognise({ ...picture, dpi: null }, ['eng'], signal);
      expect(await readFile(join(folder, 'calls'), 'utf8')).not.toContain('--dpi');
    });
  });

  test('an_abort_kills_the_process_before_the_promise_settles', async () => {
    await withProgram('echo $$ > "$(dirname "$0")/pid"; exec sleep 60', async (program, folder) => {
      const abort = new AbortController();
      const reading = createCliRecogniser(program).recognise(picture, ['eng'], abort.signal);
      reading.catch(() => undefined);
      let pid = 0;
      while (pid === 0) {
        pid = Number(await readFile(join(folder, 'pid'), 'utf8').catch(() => '0'));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      abort.abort(new Error('enough'));
      await expect(reading).rejects.toThrow('enough');
      expect(() => process.kill(pid, 0)).toThrow();
    });
  });

  test('a_program_that_fails_is_told_with_its_last_words', async () => {
    await withProgram('cat > /dev/null; echo first >&2; echo "no memory" >&2; exit 1', async (program) => {
      const reading = createCliRecogniser(program).recognise(picture, ['eng'], signal);
      await expect(reading).rejects.toMatchObject({
        code: 'engine_failed',
        message: 'tesseract ended with exit code 1: no memory',
      });
    });
  });

  test('a_page_that_takes_too_long_fails_and_frees_its_slot', async () => {
    const hang =
      'case "$1" in --version) echo "tesseract 9.9";; --list-langs) echo List; echo eng;; *) exec sleep 60;; esac';
    await withProgram(hang, async (_, folder) => {
      const before = process.env.PATH;
      process.env.PATH = `${folder}:${before}`;
      const slow = createEngine({ ...SETTINGS, width: 1, pageTimeoutMs: 1_500 });
      process.env.PATH = before;
      await slow.start();
      expect(slow.version).toBe('9.9');
      const reading = slow.read(page(await white(50, 50)));
      await expect(reading).rejects.toMatchObject({ code: 'engine_failed', message: /within 1500 ms/ });
      expect(slow.state()).toBe('ready');
      await slow.close();
    });
  });

  test('where_it_is_not_installed_auto_takes_the_npm_package_and_cli_refuses', () => {
    const before = process.env.PATH;
    process.env.PATH = '/nowhere';
    try {
      expect(createEngine(SETTINGS).name).toBe('tesseract.js');
      expect(() => createEngine({ ...SETTINGS, implementation: 'cli' })).toThrow('is not on PATH');
    } finally {
      process.env.PATH = before;
    }
  });
});
