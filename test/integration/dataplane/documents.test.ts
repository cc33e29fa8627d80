import type { OcrLine, OcrResponse } from '@pagefleet/contract';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { makePdf } from './make-pdf.ts';
import { PNG } from './pictures.ts';
import { startRig } from './rig.ts';

const NDJSON = { accept: 'application/x-ndjson' };

async function lines(answer: Response): Promise<OcrLine[]> {
  const text = await answer.text();
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as OcrLine);
}

describe('documents of several pages (R-018)', () => {
  test('a_pdf_is_split_and_its_pages_come_back_in_order', async () => {
    const rig = await startRig({ pods: [[{ kind: 'read', ms: 30 }], [{ kind: 'read' }]] });
    const answer = await rig.post(makePdf({ pages: 9 }));
    expect(answer.status).toBe(200);
    const body = (await answer.json()) as OcrResponse;
    expect(body.pages.map((page) => page.index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(body.usage_info.pages_processed).toBe(9);
    expect(body.error).toBeUndefined();
    const sent = rig.pods.flatMap((pod) => pod.pages);
    expect(new Set(sent.map((page) => page.id)).size).toBe(9);
    await rig.expectAllGivenBack();
  });

  test('ndjson_gives_each_page_as_it_finishes', async () => {
    const rig = await startRig({
      width: 1,
      pods: [[{ kind: 'read', ms: 1_500 }, { kind: 'read' }], [{ kind: 'read' }]],
    });
    const all = await lines(await rig.post(makePdf({ pages: 4 }), NDJSON));
    const pages = all.filter((line) => line.type === 'page').map((line) => line.index);
    expect(pages).toHaveLength(4);
    expect(pages.at(-1)).not.toBe(3);
    expect(all.slice(-2)).toMatchObject([
      { type: 'document', pages: 4, failed: 0 },
      { type: 'done', documents: 1, pages: 4, failed: 0 },
    ]);
  });

  test('only_the_selected_pages_are_read', async () => {
    const rig = await startRig();
    const body = (await (
      await rig.post(makePdf({ pages: 6 }), {}, '/v1/ocr?pages=4,0-1')
    ).json()) as OcrResponse;
    expect(body.pages.map((page) => page.index)).toEqual([0, 1, 4]);
    expect(rig.pods[0]?.pages).toHaveLength(3);
  });

  test('page_7_of_a_3_page_file_is_out_of_range', async () => {
    const rig = await startRig();
    const answer = await rig.post(makePdf({ pages: 3 }), {}, '/v1/ocr?pages=7');
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'page_out_of_range', param: 'pages', pages: 3 });
    expect(rig.pods[0]?.pages).toHaveLength(0);
    await rig.expectAllGivenBack();
  });

  test('a_corrupt_page_in_the_middle_fails_alone', async () => {
    const rig = await startRig();
    const answer = await rig.post(makePdf({ pages: 5, broken: [2] }));
    expect(answer.status).toBe(200);
    const body = (await answer.json()) as OcrResponse;
    expect(body.pages.map((page) => page.error?.code ?? null)).toEqual([
      null,
      null,
      'page_unreadable',
      null,
      null,
    ]);
    expect(body.pages[2]).toMatchObject({ markdown: '', images: [], dimensions: null });
    expect(body.error?.code).toBe('page_unreadable');
    expect(body.usage_info.pages_processed).toBe(4);
    await rig.expectAllGivenBack();
  });

  test('a_tiff_of_three_pages_is_three_pages', async () => {
    const rig = await startRig();
    const picture = { create: { width: 60, height: 60, channels: 3 as const, background: 'white' } };
    const page = await sharp(picture).raw().toBuffer();
    const tiff = await sharp(Buffer.concat([page, page, page]), {
      raw: { width: 60, height: 180, channels: 3, pageHeight: 60 },
    })
      .tiff()
      .toBuffer();
    const answer = await rig.post(tiff);
    const body = (await answer.json()) as OcrResponse;
    expect(body).toMatchObject({ pages: [{ index: 0 }, { index: 1 }, { index: 2 }] });
    await rig.expectAllGivenBack();
  });

  test('a_thousand_pages_come_back_in_order_and_everything_is_given_back', async () => {
    const rig = await startRig({ width: 16, pods: [[{ kind: 'read', ms: 5 }]] });
    const body = (await (await rig.post(makePdf({ pages: 1_000 }))).json()) as OcrResponse;
    expect(body.pages.map(({ index }) => index)).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
    expect(body.pages.filter(({ error }) => error)).toEqual([]);
    expect(new Set(body.pages.map(({ markdown }) => markdown)).size).toBe(1_000);
    await rig.expectAllGivenBack();
  });

  test('a_long_document_never_floods_the_queue', async () => {
    const rig = await startRig({ width: 2, pods: [[{ kind: 'read', ms: 20 }]] });
    const answering = rig.post(makePdf({ pages: 40 }));
    let most = 0;
    let unsplit = 0;
    const watch = setInterval(() => {
      const { ocr } = rig.dataplane.report().pools;
      most = Math.max(most, ocr?.waiting ?? 0);
      unsplit = Math.max(unsplit, ocr?.unsplit ?? 0);
    }, 5);
    const body = (await (await answering).json()) as OcrResponse;
    clearInterval(watch);
    expect(body.pages).toHaveLength(40);
    expect(most).toBeLessThanOrEqual(4);
    expect(most).toBeGreaterThan(0);
    expect(unsplit).toBeGreaterThan(20);
    expect(rig.pods[0]?.peak()).toBe(2);
    await rig.expectAllGivenBack();
  });
});

describe('the forms of a request', () => {
  const json = (document: object, more: object = {}) =>
    JSON.stringify({ model: 'mistral-ocr-latest', document, ...more });
  const dataUrl = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString('base64')}`;

  test('mistrals_json_with_a_data_url_is_read', async () => {
    const rig = await startRig();
    const body = json(
      { type: 'document_url', document_url: dataUrl('application/pdf', makePdf({ pages: 2 })) },
      {
        include_blocks: true,
        include_image_base64: true,
        confidence_scores_granularity: 'word',
        pages: [1],
      },
    );
    const answer = await rig.post(body, { 'content-type': 'application/json' });
    const result = (await answer.json()) as OcrResponse;
    expect(result.model).toBe('mistral-ocr-latest');
    expect(result.pages).toHaveLength(1);
    expect(result.pages[0]).toMatchObject({
      index: 1,
      blocks: [
        { type: 'text', content: 'text', top_left_x: 1, top_left_y: 2, bottom_right_x: 3, bottom_right_y: 4 },
      ],
      confidence_scores: {
        average_page_confidence_score: 0.905,
        minimum_page_confidence_score: 0.8,
        word_confidence_scores: [
          { text: 'text', confidence: 0.95, start_index: 0 },
          { text: 'of', confidence: 0.8, start_index: 5 },
        ],
      },
    });
    const options = String(rig.pods[0]?.pages[0]?.headers['x-page-options']);
    expect(JSON.parse(Buffer.from(options, 'base64url').toString())).toEqual({ words: true, blocks: true });
    await rig.expectAllGivenBack();
  });

  test('a_pdf_that_is_really_a_jpeg_and_the_reverse_are_read_as_what_they_are', async () => {
    const rig = await startRig();
    const jpeg = await sharp({ create: { width: 9, height: 9, channels: 3, background: '#fff' } })
      .jpeg()
      .toBuffer();
    const bodies = [
      json({ type: 'document_url', document_url: dataUrl('application/pdf', jpeg), document_name: 'a.pdf' }),
      json({ type: 'image_url', image_url: dataUrl('image/jpeg', makePdf({ pages: 2 })) }),
    ];
    const counts: number[] = [];
    for (const body of bodies)
      counts.push(((await (await rig.post(body)).json()) as OcrResponse).pages.length);
    expect(counts).toEqual([1, 2]);
    expect(rig.pods[0]?.pages[0]?.bytes).toBe(jpeg.length);
    await rig.expectAllGivenBack();
  });

  test('an_image_url_may_be_text_or_an_object', async () => {
    const rig = await startRig();
    const url = dataUrl('image/png', PNG);
    for (const image_url of [url, { url, detail: 'high' }]) {
      const answer = await rig.post(json({ type: 'image_url', image_url }));
      expect(answer.status).toBe(200);
    }
  });

  test('a_large_json_body_is_decoded_in_a_thread', async () => {
    const rig = await startRig();
    const pdf = makePdf({ pages: 2, padding: 400_000 });
    const answer = await rig.post(
      json({ type: 'document_url', document_url: dataUrl('application/pdf', pdf) }),
    );
    const body = (await answer.json()) as OcrResponse;
    expect(body.usage_info).toEqual({ pages_processed: 2, doc_size_bytes: pdf.length });
    await rig.expectAllGivenBack();
  });

  test('a_form_with_a_file_and_fields_is_read', async () => {
    const rig = await startRig();
    const form = new FormData();
    form.set('pages', '0-1');
    form.set('file', new Blob([makePdf({ pages: 3 })], { type: 'text/plain' }), 'scan.txt');
    form.set('languages', 'eng,fra');
    const body = (await (await rig.post(form)).json()) as OcrResponse;
    expect(body.pages.map((page) => page.index)).toEqual([0, 1]);
    const options = String(rig.pods[0]?.pages[0]?.headers['x-page-options']);
    expect(JSON.parse(Buffer.from(options, 'base64url').toString())).toEqual({ languages: ['eng', 'fra'] });
    await rig.expectAllGivenBack();
  });

  test('a_form_with_too_many_fields_is_refused_and_none_is_dropped_without_a_word', async () => {
    const rig = await startRig();
    const form = new FormData();
    for (let n = 0; n < 65; n += 1) form.append(`field${n}`, 'x');
    form.set('file', new Blob([PNG]), 'a.png');
    const answer = await rig.post(form);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ message: 'the form has more than 64 fields' });
    await rig.expectAllGivenBack();
  });

  test.each(['application/json', 'application/pdf', 'garbage/;', 'multipart/form-data', 'text/html'])(
    'content_decides_whatever_the_type_says (%s)',
    async (type) => {
      const rig = await startRig();
      const answer = await rig.post(PNG, { 'content-type': type });
      expect(answer.status).toBe(200);
      expect(rig.pods[0]?.pages[0]?.bytes).toBe(PNG.length);
    },
  );

  test('markdown_and_text_are_answered_by_accept', async () => {
    const rig = await startRig();
    const markdown = await rig.post(makePdf({ pages: 2 }), { accept: 'text/markdown' });
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(await markdown.text()).toBe('text of boot-1-1\n\ntext of boot-2-1\n');
    const text = await rig.post(makePdf({ pages: 2 }), { accept: 'text/plain' });
    expect(await text.text()).toBe('text of boot-3-1\n\ftext of boot-4-1\n');
  });

  test('a_batch_answers_each_document_and_a_bad_one_hurts_no_other', async () => {
    const rig = await startRig();
    const form = new FormData();
    form.append('file', new Blob([PNG]), 'a.png');
    form.append('file', new Blob(['no document']), 'b.txt');
    form.append('file', new Blob([makePdf({ pages: 2 })]), 'a.png');
    const all = await lines(await rig.post(form, {}, '/v1/ocr/batch'));
    const documents = all.filter((line) => line.type === 'document');
    expect(documents.map((line) => [line.document, line.pages, line.error?.code ?? null]).sort()).toEqual([
      ['a.png', 1, null],
      ['a.png-3', 2, null],
      ['b.txt', 0, 'unsupported_media_type'],
    ]);
    expect(all.at(-1)).toMatchObject({
      type: 'done',
      documents: 3,
      documents_failed: 1,
      pages: 3,
      failed: 0,
    });
    await rig.expectAllGivenBack();
  });

  test('a_json_batch_is_answered_as_json_when_asked', async () => {
    const rig = await startRig();
    const url = dataUrl('image/png', PNG);
    const body = JSON.stringify({
      documents: [
        { id: 'one', document: { type: 'image_url', image_url: url } },
        { id: 'two', document: { type: 'image_url', image_url: url }, mispelt: 1 },
        { id: 'three', document: { type: 'document_url', document_url: 'https://example.org/a.pdf' } },
      ],
    });
    const answer = await rig.post(body, { accept: 'application/json' }, '/v1/ocr/batch');
    expect(answer.status).toBe(200);
    const result = (await answer.json()) as { documents: { document: string; error?: { code: string } }[] };
    expect(result.documents.map(({ document, error }) => [document, error?.code ?? null])).toEqual([
      ['one', null],
      ['document-2', 'bad_request'],
      ['three', 'bad_request'],
    ]);
    await rig.expectAllGivenBack();
  });
});
