import { createRequire } from 'node:module';
import type { Word } from '@pagefleet/contract';
import { type Block, PSM } from 'tesseract.js';
import type { Picture } from '../document/draw-picture.ts';
import { createJsWorkers, type JsWorker, type JsWorkers } from './js-workers.ts';
import {
  BUNDLED_LANGUAGES,
  createLanguageFolder,
  type LanguageFolder,
  orientationDataFolder,
} from './language-folder.ts';
import type { Reading } from './parse-tsv.ts';
import { isRotation, type Recogniser, type Rotation } from './recogniser.ts';

const PAGES_PER_WORKER = 100;

/** Data from the packages beside us: the default fetches it from the web and leaves it in the working directory. */
const LOCAL_DATA = { gzip: true, cacheMethod: 'none' } as const;

/** A fixed set of workers, each a thread that the package starts itself; so never inside another pool. */
export function createJsRecogniser(width: number, pagesPerWorker = PAGES_PER_WORKER): Recogniser {
  let folder: LanguageFolder | null = null;
  let readers: JsWorkers | null = null;
  const orientation = createJsWorkers({
    size: 1,
    languages: ['osd'],
    engineMode: 0,
    worker: { ...LOCAL_DATA, langPath: orientationDataFolder(), legacyCore: true, legacyLang: true },
    pagesPerWorker,
  });

  async function open(): Promise<void> {
    folder ??= await createLanguageFolder();
    readers = createJsWorkers({
      size: width,
      languages: ['eng'],
      engineMode: 1,
      worker: { ...LOCAL_DATA, langPath: folder.path },
      pagesPerWorker,
    });
    await readers.open();
  }

  async function recognise(
    picture: Picture,
    languages: readonly string[],
    signal: AbortSignal,
  ): Promise<Reading> {
    if (!readers) throw new Error('the recogniser is not open');
    return await readers.use((worker) => readOn(worker, picture, languages.join('+')), signal);
  }

  async function detectRotation(picture: Picture, signal: AbortSignal): Promise<Rotation | null> {
    const detected = await orientation.use(({ api }) => api.detect(Buffer.from(picture.png)), signal);
    const degrees = detected.data.orientation_degrees;
    return degrees !== null && isRotation(degrees) ? degrees : null;
  }

  return {
    name: 'tesseract.js',
    version: packageVersion,
    open,
    languages: () => BUNDLED_LANGUAGES,
    recognise,
    detectRotation,
    async close() {
      await Promise.all([readers?.close(), orientation.close()]);
      await folder?.remove();
    },
  };
}

async function readOn(worker: JsWorker, picture: Picture, languages: string): Promise<Reading> {
  const { api } = worker;
  if (worker.languages !== languages) {
    await api.reinitialize(languages);
    worker.languages = languages;
  }
  await api.setParameters({
    // The package's default, one block, scrambles columns.
    tessedit_pageseg_mode: PSM.AUTO,
    user_defined_dpi: String(picture.dpi ?? 0),
  });
  const { data } = await api.recognize(Buffer.from(picture.png), {}, { text: false, blocks: true });
  return toReading(data.blocks ?? []);
}

function toReading(blocks: readonly Block[]): Reading {
  return {
    blocks: blocks
      .map((block) => ({
        paragraphs: block.paragraphs
          .map((paragraph) => ({
            lines: paragraph.lines
              .map((line) => line.words.flatMap(toWord))
              .filter((words) => words.length > 0),
          }))
          .filter((paragraph) => paragraph.lines.length > 0),
      }))
      .filter((block) => block.paragraphs.length > 0),
  };
}

function toWord(word: Block['paragraphs'][number]['lines'][number]['words'][number]): Word[] {
  const text = word.text.trim();
  if (text === '') return [];
  const { x0, y0, x1, y1 } = word.bbox;
  return [{ text, confidence: Math.min(100, Math.max(0, word.confidence)), box: { x0, y0, x1, y1 } }];
}

function packageVersion(): string {
  const { version } = createRequire(import.meta.url)('tesseract.js/package.json') as { version: string };
  return version;
}
