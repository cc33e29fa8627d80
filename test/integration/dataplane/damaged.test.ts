import { readdirSync, readFileSync } from 'node:fs';
import { ERRORS, type ErrorCode, type OcrResponse } from '@pagefleet/contract';
import { describe, expect, test } from 'vitest';
import { corpusMissing, corpusPath } from '../../corpus.ts';
import { makePdf } from './make-pdf.ts';
import { startRig } from './rig.ts';

const FINAL: readonly string[] = (Object.keys(ERRORS) as ErrorCode[]).filter(
  (code) => ERRORS[code].retry === 'never',
);
const SECONDS = 30;

describe.skipIf(corpusMissing)('files that people really had (corpus/damaged)', () => {
  test('each_ends_in_pages_or_in_one_final_answer_and_leaves_the_worker_as_it_was', {
    timeout: 240_000,
  }, async () => {
    const rig = await startRig();
    const answers: Record<string, string> = {};
    for (const name of readdirSync(corpusPath('damaged'))) {
      const started = Date.now();
      const answer = await rig.post(readFileSync(corpusPath('damaged', name)));
      const body = (await answer.json()) as OcrResponse & { code?: string };
      expect(Date.now() - started, name).toBeLessThan(SECONDS * 1_000);
      answers[name] = body.code ?? `${body.pages.length} pages`;
      if (answer.status !== 200) expect(FINAL, name).toContain(body.code);
      for (const page of body.pages ?? []) if (page.error) expect(FINAL, name).toContain(page.error.code);
    }
    expect(answers).toMatchObject({
      'invalid.pdf': 'document_damaged',
      'pdfjs-poppler-395-0-fuzzed.pdf': 'document_without_pages',
      'qpdf-append-xref-loop.pdf': '30 pages',
      'qpdf-bad-content.pdf': 'unsupported_media_type',
    });
    const good = (await (await rig.post(makePdf({ pages: 2 }))).json()) as OcrResponse;
    expect(good.pages).toHaveLength(2);
    await rig.expectAllGivenBack();
  });
});
