import { createEngine, type Engine } from '@pagefleet/engines';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { corpusMissing } from '../../corpus.ts';
import { PAGES, readAll, tableOf } from './corpus-truth.ts';

const READ = [
  'linn.png',
  'eurotext.png',
  'phototest-rotated-180.png',
  'phototest-rotated-L.png',
  'phototest-rotated-R.png',
];

let engine: Engine;

beforeAll(async () => {
  engine = createEngine({
    kind: 'tesseract',
    width: 2,
    languages: ['eng'],
    dpi: 200,
    pageTimeoutMs: 120_000,
    implementation: 'js',
    maxPixels: 40_000_000,
  });
  await engine.start();
});
afterAll(() => engine?.close());

describe.skipIf(corpusMissing)('the corpus read by tesseract.js (contract 4.2, 4.3 trap 3, 4.4)', () => {
  test('columns_turned_pages_and_other_languages_are_within_their_limits', { timeout: 900_000 }, async () => {
    const rows = PAGES.filter(({ file }) => READ.includes(file[1]));
    const readings = await readAll(engine, rows);
    process.stdout.write(tableOf('pages, tesseract.js', readings));
    expect(readings).toHaveLength(READ.length);
    expect(readings.filter(({ ok }) => !ok).map(({ row }) => row.file[1])).toEqual([]);
  });
});
