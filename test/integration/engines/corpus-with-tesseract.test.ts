import { readFileSync } from 'node:fs';
import { createEngine, type Engine, openDocument } from '@pagefleet/engines';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { corpusMissing, corpusPath } from '../../corpus.ts';
import { DOCUMENTS, PAGES, readAll, type TruthRow, tableOf } from './corpus-truth.ts';

const noPagesOf = (...names: string[]): Record<string, readonly number[]> =>
  Object.fromEntries(names.map((name) => [name, []]));

/** Pages that are read here of what the cluster reads too (test/e2e/corpus.test.ts); all of them with CORPUS=all. */
const THESE_PAGES_ONLY: Readonly<Record<string, readonly number[]>> =
  process.env.CORPUS === 'all'
    ? {}
    : {
        'tracemonkey-scanned.pdf': [12],
        'tracemonkey-3pages.tif': [0],
        ...noPagesOf('8071_093.3B.png', 'linn.png', 'devref20.png', 'devref20-skew-noise.jpg'),
        ...noPagesOf('rintro30.png', 'tracemonkey2.png', 'jbig2.pdf', 'rotated_skew.pdf', 'cardinal.pdf'),
      };
const isReadHere = ({ file: [, name], pageIndex }: TruthRow): boolean =>
  THESE_PAGES_ONLY[name]?.includes(pageIndex) ?? true;
const PAGE_ROWS = PAGES.filter(isReadHere);
const DOCUMENT_ROWS = DOCUMENTS.filter(isReadHere);
const LEFT_OUT = PAGES.length + DOCUMENTS.length - PAGE_ROWS.length - DOCUMENT_ROWS.length;
const SIGNAL = new AbortController().signal;
/** It takes about half a minute on two idle cores; a machine that does other work too gets its time. */
const PATIENCE_MS = 900_000;

let engine: Engine;

beforeAll(async () => {
  engine = createEngine({
    kind: 'tesseract',
    width: 2,
    languages: ['eng'],
    dpi: 200,
    pageTimeoutMs: 120_000,
    implementation: 'cli',
    maxPixels: 40_000_000,
  });
  await engine.start();
});
afterAll(() => engine?.close());

async function readDocument(name: string, languages: string[] = ['eng']): Promise<string[]> {
  const document = await openDocument(readFileSync(corpusPath('documents', name)), {
    maxPages: 100,
    maxPixels: 40_000_000,
  });
  const texts = Array.from({ length: document.pageCount }, async (_, index) => {
    const page = await document.page(index);
    return (await engine.read({ ...page, options: { languages }, signal: SIGNAL })).text;
  });
  const read = await Promise.all(texts);
  document.close();
  return read;
}

describe.skipIf(corpusMissing)('the corpus read by the program tesseract (issue 2, corpus/README.md)', () => {
  test('every_page_with_a_known_text_is_read_within_its_limit', { timeout: PATIENCE_MS }, async () => {
    const readings = await readAll(engine, PAGE_ROWS);
    process.stdout.write(tableOf('pages, tesseract', readings));
    expect(readings.filter(({ ok }) => !ok).map(({ row }) => row.file[1])).toEqual([]);
    const turned = readings.filter(({ row }) => /sideways|rotated/.test(row.file[1]));
    expect(turned.map(({ rotation }) => rotation)).toEqual([270, 180, 90, 270]);
  });

  test('every_document_with_a_known_text_is_read_within_its_limit', { timeout: PATIENCE_MS }, async () => {
    const readings = await readAll(engine, DOCUMENT_ROWS);
    process.stdout.write(tableOf('documents, tesseract', readings));
    process.stdout.write(`left out (CORPUS=all reads them): ${LEFT_OUT} pages\n`);
    expect(readings.filter(({ ok }) => !ok).map(({ row }) => `${row.file[1]} p${row.pageIndex + 1}`)).toEqual(
      [],
    );
  });

  test.each([
    ['aspect.pdf', ['eng'], [/^This should be a perfect circle\.$/]],
    ['francais.pdf', ['fra'], [/Portez ce vieux whisky/]],
    ['francais.pdf', ['fra'], [/[éèêàç]/]],
    ['cmyk.pdf', ['eng'], [/Pure Black \(K = 100\)/]],
    ['palette.pdf', ['eng'], [/Milafranga/]],
    ['epson.pdf', ['eng'], [/Optical character recognition/]],
    ['blank.pdf', ['eng'], [/^$/]],
    ['trivial.pdf', ['eng'], [/^$/]],
  ])('%s_in_%j_reads_as_expected', { timeout: PATIENCE_MS }, async (name, languages, expected) => {
    const texts = await readDocument(name, languages);
    expect(texts).toHaveLength(expected.length);
    for (const [index, text] of texts.entries()) expect(text).toMatch(expected[index] ?? /never/);
  });

  test('six_pages_of_very_different_kinds_come_in_order', { timeout: PATIENCE_MS }, async () => {
    const texts = await readDocument('multipage.pdf');
    expect(texts).toHaveLength(6);
    expect(texts[0]).toMatch(/Chapter 2/);
    expect(texts[4]).toMatch(/on the throne of England/);
    expect(texts[5]).toMatch(/on the throne of England/);
  });
});
