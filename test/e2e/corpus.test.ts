import { readdirSync, readFileSync } from 'node:fs';
import { ERRORS, type ErrorBody, type FleetStatus, isErrorCode, type OcrResponse } from '@pagefleet/contract';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { measureAccuracy } from '../accuracy.ts';
import { startCluster, type TestCluster } from '../cluster.ts';
import { corpusMissing, corpusPath } from '../corpus.ts';
import { DOCUMENTS, PAGES, type TruthRow } from '../integration/engines/corpus-truth.ts';

/** `CORPUS=all` reads every page; otherwise what is below is left out, so that the whole kind stays in its budget. */
const READ_ALL = process.env.CORPUS === 'all';
const LEFT_OUT: Readonly<Record<string, string>> = {
  'linn.pdf': 'the scan of pages/linn.png in a PDF',
  'ccitt.pdf': 'the scan of linn, coded otherwise; jbig2.pdf stays',
  'skew.pdf': 'the scan of linn, skewed; devref20-skew-noise.jpg stays',
};
const THESE_PAGES_ONLY: Readonly<
  Record<string, { readonly pages: readonly number[]; readonly why: string }>
> = {
  'tracemonkey-scanned.pdf': { pages: [0, 9, 13], why: 'one plain page, one with figures and the last stay' },
  'tracemonkey-3pages.tif': { pages: [1], why: 'the same pages; one from the middle stays' },
  'qpdf-V4-aes.pdf': { pages: [0, 1, 29], why: 'thirty like pages' },
  'qpdf-append-xref-loop.pdf': { pages: [0, 1, 29], why: 'thirty like pages' },
};
/** One more than the pods can hold, so that a page always waits. */
const PAGES_AT_A_TIME = 3;
/** As many as the pods hold: what is timed here is the file, not the wait behind another. */
const DAMAGED_AT_A_TIME = 2;
const PATIENCE_MS = READ_ALL ? 1_500_000 : 400_000;
const DAMAGED_WITHIN_MS = 60_000;

let running: TestCluster;
const ready = ({ summary }: FleetStatus) => summary.pods_ready === 2;

beforeAll(async () => {
  if (corpusMissing) return;
  running = await startCluster({ pools: [{ name: 'ocr', min_pods: 2, max_pods: 2 }] });
  await running.until('both pods serve', ready);
});
afterAll(async () => {
  await running?.down();
});

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

async function post(file: readonly string[], query = '', accept = 'application/json'): Promise<Answer> {
  const startedMs = performance.now();
  const answer = await request(`${running.url}/v1/ocr${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream', accept },
    body: readFileSync(corpusPath(...file)),
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, text, ms: performance.now() - startedMs };
}

async function readPages(file: readonly string[], query = ''): Promise<OcrResponse['pages']> {
  const { status, text } = await post(file, query);
  expect(`${file.join('/')}: ${status} ${status === 200 ? '' : text}`).toBe(`${file.join('/')}: 200 `);
  return (JSON.parse(text) as OcrResponse).pages;
}

/** Works through `items` with a few at a time; the results keep the order of the items. */
async function inLanes<In, Out>(
  items: readonly In[],
  width: number,
  work: (item: In) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = [];
  const waiting = [...items.entries()];
  const lane = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: width }, lane));
  return results;
}

const queryOf = (name: string): string => {
  const selected = READ_ALL ? undefined : THESE_PAGES_ONLY[name];
  return selected ? `?pages=${selected.pages.join(',')}` : '';
};
const isSelected = ({ file: [, name], pageIndex }: TruthRow): boolean =>
  READ_ALL || (!(name in LEFT_OUT) && (THESE_PAGES_ONLY[name]?.pages.includes(pageIndex) ?? true));

interface Judged {
  readonly row: TruthRow;
  readonly rotation: number | undefined;
  readonly line: string;
  readonly ok: boolean;
}

function judge(row: TruthRow, read: string, rotation: number | undefined): Judged {
  const { wer, f1 } = measureAccuracy(readFileSync(corpusPath(...row.truth), 'utf8'), read);
  const ok = wer <= row.werAtMost && f1 >= row.f1AtLeast;
  const werLimit = Number.isFinite(row.werAtMost) ? row.werAtMost.toFixed(2) : '   –';
  const name = `${row.file[1]} p${row.pageIndex + 1}`.padEnd(32);
  const turn = rotation === undefined ? '   ' : `${rotation}°`.padStart(4);
  const line = `${name} ${wer.toFixed(3)} ≤ ${werLimit}   ${f1.toFixed(3)} ≥ ${row.f1AtLeast.toFixed(2)}  ${turn}  ${ok ? 'ok' : 'MISSED'}`;
  return { row, rotation, line, ok };
}

/** One request per document, whatever pages of it are judged; pictures come as text, documents as JSON. */
async function readAndJudge(rows: readonly TruthRow[]): Promise<Judged[]> {
  const [first] = rows;
  if (!first) return [];
  const [folder, name] = first.file;
  if (folder === 'pages') {
    const { status, text } = await post(first.file, '', 'text/plain');
    return [judge(first, status === 200 ? text : '', undefined)];
  }
  const pages = await readPages(first.file, queryOf(name));
  expect(pages.map(({ index }) => index)).toEqual(rows.map(({ pageIndex }) => pageIndex));
  return rows.map((row, at) => judge(row, pages[at]?.markdown ?? '', pages[at]?.rotation));
}

describe.skipIf(corpusMissing)('the corpus through the whole cluster (issue 2, corpus/README.md)', () => {
  test('every_page_with_a_known_text_is_read_within_its_limit_and_in_order', {
    timeout: PATIENCE_MS,
  }, async () => {
    const rows = [...PAGES, ...DOCUMENTS].filter(isSelected);
    const documents = [...Map.groupBy(rows, ({ file }) => file.join('/')).values()];
    const startedMs = performance.now();
    const judged = (await inLanes(documents, PAGES_AT_A_TIME, readAndJudge)).flat();
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    const head = `${'page'.padEnd(32)} WER   limit    F1    limit  turn`;
    const tail = `${judged.length} pages in ${seconds} s`;
    process.stdout.write(
      ['\nthrough the cluster', head, ...judged.map(({ line }) => line), tail, ...leftOut(), ''].join('\n'),
    );
    expect(judged.filter(({ ok }) => !ok).map(({ line }) => line)).toEqual([]);
    const cardinal = judged.filter(({ row }) => row.file[1] === 'cardinal.pdf');
    expect(cardinal.map(({ rotation }) => rotation)).toEqual([0, 270, 180, 90]);
  });

  test('accents_are_read_in_the_language_the_request_names', { timeout: PATIENCE_MS }, async () => {
    const [page] = await readPages(['documents', 'francais.pdf'], '?languages=fra');
    expect(page?.markdown).toMatch(/Portez ce vieux whisky/);
    expect(page?.markdown).toMatch(/[éèêàç]/);
  });

  test('a_blank_page_is_an_empty_answer_and_no_error', { timeout: PATIENCE_MS }, async () => {
    const { status, text } = await post(['documents', 'blank.pdf']);
    const answer = JSON.parse(text) as OcrResponse;
    expect(status).toBe(200);
    expect(answer.error).toBeUndefined();
    expect(answer.pages).toMatchObject([{ index: 0, markdown: '' }]);
    expect(answer.pages[0]?.error).toBeUndefined();
  });

  test('pages_of_very_different_kinds_come_in_order', { timeout: PATIENCE_MS }, async () => {
    const pages = await readPages(['documents', 'multipage.pdf']);
    expect(pages.map(({ index, error }) => [index, error])).toEqual(
      [0, 1, 2, 3, 4, 5].map((index) => [index, undefined]),
    );
    expect(pages[0]?.markdown).toMatch(/Chapter 2/);
    expect(pages[5]?.markdown).toMatch(/on the throne of England/);
  });

  test('odd_colours_and_densities_are_read', { timeout: PATIENCE_MS }, async () => {
    const expected: readonly (readonly [string, RegExp])[] = [
      ['aspect.pdf', /^This should be a perfect circle\.$/],
      ['cmyk.pdf', /Pure Black \(K = 100\)/],
      ['palette.pdf', /Milafranga/],
      ['epson.pdf', /Optical character recognition/],
      ['trivial.pdf', /^$/],
    ];
    const texts = await inLanes(
      expected,
      PAGES_AT_A_TIME,
      async ([name]) => (await readPages(['documents', name]))[0]?.markdown,
    );
    for (const [at, [name, pattern]] of expected.entries()) expect(texts[at], name).toMatch(pattern);
  });
});

describe.skipIf(corpusMissing)('the damaged files through the whole cluster (issue 2, R-020)', () => {
  test('each_ends_in_pages_or_in_one_clear_final_answer_and_the_same_pods_serve_afterwards', {
    timeout: PATIENCE_MS,
  }, async () => {
    const before = (await running.until('both pods serve', ready)).pods.map(({ id }) => id).sort();
    const files = readdirSync(corpusPath('damaged'));
    const answers = await inLanes(files, DAMAGED_AT_A_TIME, (file) => post(['damaged', file], queryOf(file)));
    const said = answers.map(describeAnswer);
    const lines = files.map(
      (file, at) =>
        `${file.padEnd(40)} ${((answers[at]?.ms ?? 0) / 1_000).toFixed(1).padStart(5)} s  ${said[at]}`,
    );
    process.stdout.write(['\ndamaged files through the cluster', ...lines, ''].join('\n'));

    expect(files.length).toBeGreaterThanOrEqual(36);
    for (const [at, answer] of answers.entries()) {
      expect(faultsOf(answer), `${files[at]}: ${answer.text.slice(0, 300)}`).toEqual([]);
      expect(answer.ms, files[at]).toBeLessThan(DAMAGED_WITHIN_MS);
    }
    const after = await running.until(
      'all slots are given back',
      (status) => ready(status) && status.summary.pages_in_flight + status.summary.pages_waiting === 0,
    );
    expect(after.pods.map(({ id }) => id).sort()).toEqual(before);
    expect(after.pods.map(({ inflight, state }) => [inflight, state])).toEqual([
      [0, 'serving'],
      [0, 'serving'],
    ]);
    const { status, text } = await post(['pages', 'phototest.png'], '', 'text/plain');
    expect([status, text]).toEqual([200, expect.stringContaining('This is a lot of 12 point text')]);
  });
});

/** Codes that end a matter: the cause is in the document, and the same request would fail again. */
function isFinal(code: unknown): boolean {
  return isErrorCode(code) && ERRORS[code].retry === 'never' && code !== 'bad_request';
}

function faultsOf({ status, text }: Answer): string[] {
  const answer = JSON.parse(text) as OcrResponse | ErrorBody;
  if ('object' in answer) {
    const { code, message } = answer;
    if (!isFinal(code)) return [`the code ${code} is not final`];
    if (message.length < 10) return [`the message "${message}" names no cause`];
    return isErrorCode(code) && ERRORS[code].httpStatus === status ? [] : [`${code} came with ${status}`];
  }
  const failed = answer.pages.filter(({ error }) => error !== undefined);
  const faults = failed
    .filter(({ error }) => !isFinal(error?.code))
    .map(({ error }) => `page: ${error?.code}`);
  if (answer.pages.length === 0) faults.push('neither pages nor an error');
  if (failed.length > 0 && answer.error === undefined) faults.push('pages failed and the answer is silent');
  return faults;
}

function describeAnswer({ status, text }: Answer): string {
  const answer = JSON.parse(text) as OcrResponse | ErrorBody;
  if ('object' in answer) return `${status} ${answer.code}: ${answer.message}`;
  const failed = answer.pages.flatMap(({ error }) => error?.code ?? []);
  const words = answer.pages.reduce((sum, { markdown }) => sum + markdown.split(/\s+/).length - 1, 0);
  return `${status} ${answer.pages.length} pages, ${words} words${failed.length > 0 ? `, failed: ${failed.join()}` : ''}`;
}

function leftOut(): string[] {
  if (READ_ALL) return [];
  return [
    'left out (CORPUS=all reads them):',
    ...Object.entries(LEFT_OUT).map(([name, why]) => `  ${name}: ${why}`),
    ...Object.entries(THESE_PAGES_ONLY).map(
      ([name, { pages, why }]) => `  ${name} but pages ${pages.map((index) => index + 1).join()}: ${why}`,
    ),
  ];
}
