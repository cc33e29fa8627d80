import { describe, expect, test } from 'vitest';
import { parseBatchBody, parseOcrBody } from './parse-ocr-body.ts';

const PDF = 'data:application/pdf;base64,JVBERi0xLjQ=';
const body = (more: object = {}, document: object = { type: 'document_url', document_url: PDF }) =>
  JSON.stringify({ document, ...more });

function refusal(text: string) {
  try {
    parseOcrBody(text);
  } catch (error) {
    return error as { code: string; message: string; details: { param?: string } };
  }
  throw new Error('it was accepted');
}

describe('Mistral’s request', () => {
  test('a_data_url_is_decoded_whatever_type_it_names', () => {
    const [item] = parseOcrBody(
      body({ model: null, id: 'mine' }, { type: 'image_url', image_url: { url: PDF } }),
    );
    if (!item || 'error' in item || item.document.source.kind !== 'bytes') throw new Error('no bytes');
    expect(Buffer.from(item.document.source.bytes).toString()).toBe('%PDF-1.4');
    expect(item.document.name).toBe('mine');
  });

  test('data_that_is_not_base64_is_taken_by_its_percent_signs', () => {
    const [item] = parseOcrBody(body({}, { type: 'document_url', document_url: 'data:,%25PDF%20x' }));
    if (!item || 'error' in item || item.document.source.kind !== 'bytes') throw new Error('no bytes');
    expect(Buffer.from(item.document.source.bytes).toString()).toBe('%PDF x');
  });

  test('fields_that_ask_for_nothing_are_accepted', () => {
    const [item] = parseOcrBody(
      body({
        include_blocks: true,
        image_limit: null,
        bbox_annotation_format: null,
        table_format: 'html',
        extract_header: false,
      }),
    );
    expect(item).toMatchObject({
      document: { options: { blocks: true, confidence: null, requireFleet: false } },
    });
  });

  test.each([
    ['[]', ''],
    ['{}', 'document'],
    [body({ pages: [-1] }), 'pages'],
    [body({ require: 'cpu' }), 'require'],
    [body({ languages: ['ENGLISH'] }), 'languages'],
    [body({}, { type: 'document_url', url: PDF }), 'document'],
    [body({}, { type: 'fax' }), 'document.type'],
    [body({}, { type: 'document_url', document_url: 'data:nothing' }), 'document'],
    [body({ foo: 1 }), 'foo'],
  ])('%s_is_refused_by_name', (text, param) => {
    expect(refusal(text)).toMatchObject({ code: 'bad_request', details: { param } });
  });

  test('what_no_engine_can_do_is_refused_not_ignored', () => {
    expect(refusal(body({ extract_header: true }))).toMatchObject({
      code: 'unsupported',
      details: { param: 'extract_header' },
    });
  });
});

describe('a batch', () => {
  test('has_a_result_for_each_document_good_or_bad', () => {
    const items = parseBatchBody(`{"documents":[${body()},{"document":3}]}`, 2);
    expect(items.map((item) => ('error' in item ? item.error.code : 'good'))).toEqual([
      'good',
      'bad_request',
    ]);
  });

  test.each(['{}', '{"documents":[]}', '[1]', `{"documents":[${body()},${body()},${body()}]}`])(
    '%s_is_none',
    (text) => {
      expect(() => parseBatchBody(text, 2)).toThrow(expect.objectContaining({ code: 'bad_request' }));
    },
  );
});
