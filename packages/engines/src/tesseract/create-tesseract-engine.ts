import { PagefleetError, type PageResult } from '@pagefleet/contract';
import { drawPicture, type Picture } from '../document/draw-picture.ts';
import { createEngineLife } from '../engine-life.ts';
import type { Engine, PageInput, TesseractSettings } from '../port.ts';
import { createRenderPool, type RenderPool } from '../render/render-pool.ts';
import { chooseLanguages, requireLanguages } from './choose-languages.ts';
import { createCliRecogniser, findTesseract } from './cli-recogniser.ts';
import { createJsRecogniser } from './js-recogniser.ts';
import { readUpright } from './read-upright.ts';
import type { Recogniser } from './recogniser.ts';
import { toPageResult } from './to-page-result.ts';

export function createTesseractEngine(settings: TesseractSettings): Engine {
  const recogniser = chooseRecogniser(settings);
  const renderPool = createRenderPool(settings.width, settings);

  async function read(page: PageInput): Promise<PageResult> {
    const languages = chooseLanguages(page.options.languages ?? settings.languages, recogniser.languages());
    const startedMs = performance.now();
    const deadline = AbortSignal.timeout(settings.pageTimeoutMs);
    const signal = AbortSignal.any([page.signal, deadline]);
    try {
      const picture = await toPicture(page, settings, { renderPool, signal });
      const readPicture = await readUpright(recogniser, picture, languages, signal);
      return toPageResult(readPicture, page.options, {
        engine: recogniser.name,
        engineMs: performance.now() - startedMs,
      });
    } catch (cause) {
      if (page.signal.aborted || !deadline.aborted) throw cause;
      throw new PagefleetError('engine_failed', `the page was not read within ${settings.pageTimeoutMs} ms`, {
        cause,
      });
    }
  }

  return createEngineLife(
    {
      name: recogniser.name,
      version: () => recogniser.version(),
      async open() {
        await recogniser.open();
        requireLanguages(settings.languages, recogniser.languages());
      },
      read,
      async close() {
        await Promise.all([recogniser.close(), renderPool.close()]);
      },
    },
    settings.width,
  );
}

function chooseRecogniser(settings: TesseractSettings): Recogniser {
  const program = settings.implementation === 'js' ? null : findTesseract();
  if (program) return createCliRecogniser(program);
  if (settings.implementation === 'cli') {
    throw new PagefleetError(
      'config_invalid',
      'the engine is set to the program tesseract, which is not on PATH; install it or set the implementation to auto',
    );
  }
  return createJsRecogniser(settings.width);
}

function toPicture(
  page: PageInput,
  settings: TesseractSettings,
  by: { readonly renderPool: RenderPool; readonly signal: AbortSignal },
): Promise<Picture> {
  if (page.bytes.length === 0) throw new PagefleetError('page_unreadable', 'the page has no bytes');
  return page.kind === 'pdf'
    ? by.renderPool.draw(page.bytes, by.signal)
    : drawPicture(page.bytes, 0, settings);
}
