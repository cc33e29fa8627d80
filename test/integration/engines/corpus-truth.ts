import { readFileSync } from 'node:fs';
import { type Engine, openDocument } from '@pagefleet/engines';
import { type Accuracy, measureAccuracy } from '../../accuracy.ts';
import { corpusPath } from '../../corpus.ts';

/** One page with a known text and how well it must be read (the corpus' README). */
export interface TruthRow {
  readonly file: readonly [folder: string, name: string];
  readonly pageIndex: number;
  readonly truth: readonly string[];
  readonly werAtMost: number;
  readonly f1AtLeast: number;
  readonly languages?: readonly string[];
}

export interface Reading extends Accuracy {
  readonly row: TruthRow;
  readonly rotation: number;
  readonly engineMs: number;
  readonly ok: boolean;
}

const page = (name: string, werAtMost: number, f1AtLeast: number): TruthRow => ({
  file: ['pages', name],
  pageIndex: 0,
  truth: ['pages', name.replace(/\.(png|jpg)$/, '.txt')],
  werAtMost,
  f1AtLeast,
});

export const PAGES: readonly TruthRow[] = [
  page('8071_093.3B.png', 0.13, 0.96),
  page('linn.png', 0.07, 0.95),
  page('devref20.png', 0.06, 0.95),
  page('rintro30.png', 0.06, 0.95),
  page('devref20-skew-noise.jpg', 0.09, 0.94),
  page('rintro30-sideways.png', 0.1, 0.93),
  page('tracemonkey2.png', 0.08, 0.95),
  page('eurotext.png', 0.15, 0.87),
  page('phototest.png', 0.02, 0.98),
  page('phototest-rotated-180.png', 0.02, 0.98),
  page('phototest-rotated-L.png', 0.02, 0.98),
  page('phototest-rotated-R.png', 0.02, 0.98),
];

/** Pages that hold figures, whose labels no truth lists. */
const FIGURE_PAGES = [9, 12];

const scanned = (name: string, pageCount: number): TruthRow[] =>
  Array.from({ length: pageCount }, (_, pageIndex) => ({
    file: ['documents', name] as const,
    pageIndex,
    truth: ['documents', 'tracemonkey-scanned.pages', `p${String(pageIndex + 1).padStart(2, '0')}.txt`],
    // The limit of this document is order-free: its columns are broken by figures and footnotes.
    werAtMost: Number.POSITIVE_INFINITY,
    f1AtLeast: FIGURE_PAGES.includes(pageIndex) ? 0.84 : 0.93,
  }));

/** The same scan of two columns in many guises; `linn` is its truth and its limit. */
const linn = (name: string, pageIndex: number, werAtMost = 0.07): TruthRow => ({
  file: ['documents', name],
  pageIndex,
  truth: ['pages', 'linn.txt'],
  werAtMost,
  f1AtLeast: 0.95,
});

export const DOCUMENTS: readonly TruthRow[] = [
  ...scanned('tracemonkey-scanned.pdf', 14),
  ...scanned('tracemonkey-3pages.tif', 3),
  ...[0, 1, 2, 3].map((index) => linn('cardinal.pdf', index)),
  linn('linn.pdf', 0),
  linn('jbig2.pdf', 0),
  linn('ccitt.pdf', 0),
  linn('skew.pdf', 0),
  // Tesseract alone joins the two columns of this one (0.473); the words are all there.
  linn('rotated_skew.pdf', 0, Number.POSITIVE_INFINITY),
];

const LIMITS = { maxPages: 1000, maxPixels: 40_000_000 };
const SIGNAL = new AbortController().signal;

/** Hands everything to the engine at once; its width bounds what runs. */
export async function readAll(engine: Engine, rows: readonly TruthRow[]): Promise<Reading[]> {
  return await Promise.all(rows.map((row) => readRow(engine, row)));
}

async function readRow(engine: Engine, row: TruthRow): Promise<Reading> {
  const document = await openDocument(readFileSync(corpusPath(...row.file)), LIMITS);
  const { bytes, kind } = await document.page(row.pageIndex);
  document.close();
  const options = row.languages ? { languages: [...row.languages] } : {};
  const result = await engine.read({ bytes, kind, options, signal: SIGNAL });
  const accuracy = measureAccuracy(readFileSync(corpusPath(...row.truth), 'utf8'), result.text);
  const ok = accuracy.wer <= row.werAtMost && accuracy.f1 >= row.f1AtLeast;
  return { ...accuracy, row, ok, rotation: result.rotation, engineMs: result.engineMs };
}

export function tableOf(title: string, readings: readonly Reading[]): string {
  const lines = readings.map(({ row, wer, f1, rotation, engineMs, ok }) => {
    const werLimit = Number.isFinite(row.werAtMost) ? row.werAtMost.toFixed(2) : '   –';
    const name = `${row.file[1]} p${row.pageIndex + 1}`.padEnd(32);
    const seconds = (engineMs / 1000).toFixed(1).padStart(5);
    return `${name} ${wer.toFixed(3)} ≤ ${werLimit}   ${f1.toFixed(3)} ≥ ${row.f1AtLeast.toFixed(2)}   ${String(rotation).padStart(3)}°  ${seconds} s  ${ok ? 'ok' : 'MISSED'}`;
  });
  return [`\n${title}`, `${'page'.padEnd(32)} WER   limit    F1    limit   turn    time`, ...lines, ''].join(
    '\n',
  );
}
