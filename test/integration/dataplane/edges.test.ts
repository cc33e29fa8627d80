import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OcrResponse } from '@pagefleet/contract';
import { describe, expect, test } from 'vitest';
import { makePdf } from './make-pdf.ts';
import { PNG } from './pictures.ts';
import { type Rig, startRig } from './rig.ts';

/** A client that writes and closes exactly as told. */
async function rawClient(
  rig: Rig,
  head: string,
): Promise<{ socket: Socket; text(): string; closed: Promise<unknown> }> {
  const socket = connect(rig.port, '127.0.0.1');
  let text = '';
  socket.on('data', (part) => {
    text += part;
  });
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  socket.write(`POST /v1/ocr HTTP/1.1\r\nHost: 127.0.0.1\r\n${head}\r\n\r\n`);
  return { socket, text: () => text, closed };
}

describe('bad input gets one clear answer', () => {
  const cases: readonly [name: string, body: string | Buffer, code: string, status: number, path?: string][] =
    [
      ['an_empty_body', '', 'empty_body', 400],
      ['bytes_that_are_no_document', 'hello there', 'unsupported_media_type', 415],
      ['json_that_cannot_be_parsed', '{"document": ', 'bad_request', 400],
      ['json_null', 'null', 'bad_request', 400],
      ['json_null_for_a_batch', ' null\n', 'bad_request', 400, '/v1/ocr/batch'],
      ['a_json_string', '"scan.pdf"', 'bad_request', 400],
      ['a_json_number', '12.5', 'bad_request', 400],
      ['text_that_begins_with_a_number', '12 pages', 'unsupported_media_type', 415],
      ['json_without_a_document', '{"model": "ocr"}', 'bad_request', 400],
      [
        'an_unknown_field',
        '{"document":{"type":"document_url","document_url":"data:,x"},"pagse":[1]}',
        'bad_request',
        400,
      ],
      ['a_document_of_unknown_type', '{"document":{"type":"fax"}}', 'bad_request', 400],
      ['a_file_id', '{"document":{"type":"file","file_id":"f"}}', 'unsupported', 501],
      [
        'an_https_url',
        '{"document":{"type":"document_url","document_url":"https://example.org/x"}}',
        'bad_request',
        400,
      ],
      [
        'a_http_url',
        '{"document":{"type":"document_url","document_url":"http://127.0.0.1/x"}}',
        'bad_request',
        400,
      ],
      [
        'an_annotation_format',
        '{"document":{"type":"document_url","document_url":"data:,x"},"document_annotation_format":{}}',
        'unsupported',
        501,
      ],
      ['an_unknown_model', PNG, 'not_found', 404, '/v1/ocr?model=gpt'],
      ['an_unknown_parameter', PNG, 'bad_request', 400, '/v1/ocr?pagse=1'],
      ['an_option_given_twice', PNG, 'bad_request', 400, '/v1/ocr?pages=0&pages=0'],
      ['pages_that_are_no_pages', PNG, 'bad_request', 400, '/v1/ocr?pages=a-b'],
      ['a_language_that_is_none', PNG, 'bad_request', 400, '/v1/ocr?languages=english'],
      ['a_pdf_without_pages', makePdf({ pages: 0 }), 'document_without_pages', 400],
      ['garbage_that_calls_itself_a_pdf', `%PDF-1.7\n${'garbage '.repeat(400)}`, 'document_damaged', 400],
      ['a_truncated_pdf', makePdf({ pages: 3 }).subarray(0, 120), 'document_damaged', 400],
    ];

  test.each(cases)('%s', async (_name, body, code, status, path) => {
    const rig = await startRig();
    const answer = await rig.post(body, { 'x-request-id': 'mine' }, path);
    expect(await answer.json()).toMatchObject({ object: 'error', code, request_id: 'mine' });
    expect(answer.status).toBe(status);
    expect(rig.pods[0]?.pages).toEqual([]);
    await rig.expectAllGivenBack();
  });

  test('the_error_of_a_mispelt_field_names_it', async () => {
    const rig = await startRig();
    const answer = await rig.post(
      '{"document":{"type":"document_url","document_url":"data:,x"},"pagse":[1]}',
    );
    expect(await answer.json()).toMatchObject({ param: 'pagse', message: 'unknown field "pagse"' });
  });

  test.each([
    ['twice_in_the_form', '/v1/ocr', ['0', '1']],
    ['in_the_form_and_behind_the_question_mark', '/v1/ocr?pages=0', ['0']],
  ])('an_option_given %s is_refused_by_name', async (_name, path, values) => {
    const rig = await startRig();
    const form = new FormData();
    form.set('file', new Blob([PNG]), 'a.png');
    for (const value of values) form.append('pages', value);
    const answer = await rig.post(form, {}, path);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'bad_request', param: 'pages' });
    await rig.expectAllGivenBack();
  });

  test('a_lying_page_count_is_not_believed', async () => {
    const rig = await startRig();
    const answer = await rig.post(makePdf({ pages: 2, claimed: 1_000_000 }));
    const body = (await answer.json()) as OcrResponse;
    expect(body.pages.map((page) => page.index)).toEqual([0, 1]);
  });

  test('a_body_over_the_limit_is_refused_by_its_length_and_by_its_bytes', async () => {
    const rig = await startRig({ env: { PAGEFLEET_LIMITS_MAX_BODY: '1MB' } });
    const big = Buffer.alloc(1_500_000, 65);
    expect(await (await rig.post(big)).json()).toMatchObject({ code: 'payload_too_large' });
    const chunked = new ReadableStream({
      start(controller) {
        controller.enqueue(big);
        controller.close();
      },
    });
    expect((await rig.post(chunked)).status).toBe(413);
    await rig.expectAllGivenBack();
  });

  test('a_document_of_too_many_pages_is_refused', async () => {
    const rig = await startRig({ env: { PAGEFLEET_LIMITS_MAX_PAGES_PER_DOCUMENT: '5' } });
    const answer = await rig.post(makePdf({ pages: 6 }));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'document_too_many_pages', pages: 6 });
  });

  test('the_same_document_twice_at_once_is_read_twice', async () => {
    const rig = await startRig();
    const pdf = makePdf({ pages: 3 });
    const answers = await Promise.all([rig.post(pdf), rig.post(pdf)]);
    for (const answer of answers) expect(((await answer.json()) as OcrResponse).pages).toHaveLength(3);
    await rig.expectAllGivenBack();
  });
});

describe('bodies too large for memory (R-014)', () => {
  test('are_spooled_to_disk_and_given_back', async () => {
    const rig = await startRig({
      width: 1,
      pods: [[{ kind: 'read', ms: 300 }]],
      limits: { maxMemoryBytes: 100_000 },
    });
    const answering = rig.post(makePdf({ pages: 2, padding: 300_000 }));
    await expect.poll(() => rig.dataplane.report().totals.bytesSpooled).toBeGreaterThan(300_000);
    expect(rig.dataplane.report().totals.bytesInMemory).toBeLessThanOrEqual(100_000);
    const metrics = await (await fetch(`${rig.url}/metrics`)).text();
    expect(metrics).toMatch(/^pagefleet_bytes_spooled [3-9]\d{5}$/m);
    expect(metrics).toMatch(/^pagefleet_bytes_in_memory \d+$/m);
    const body = (await (await answering).json()) as OcrResponse;
    expect(body.pages).toHaveLength(2);
    expect(rig.pods[0]?.pages[0]?.bytes).toBeGreaterThan(0);
    await rig.expectAllGivenBack();
  });

  test('are_refused_only_when_the_disk_has_no_room_either', async () => {
    const rig = await startRig({ limits: { maxMemoryBytes: 100_000, maxSpoolBytes: 100_000 } });
    const answer = await rig.post(Buffer.concat([PNG, Buffer.alloc(250_000)]));
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: 'spool_full' });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    await rig.expectAllGivenBack();
  });
});

describe('clients that hang up give everything back (R-020)', () => {
  test('during_the_upload', async () => {
    const rig = await startRig();
    const client = await rawClient(rig, 'Content-Length: 100000');
    client.socket.write(PNG);
    await expect.poll(() => rig.dataplane.open()).toBe(1);
    client.socket.destroy();
    await rig.expectAllGivenBack();
    expect(rig.pods[0]?.pages).toEqual([]);
  });

  test('while_a_page_is_read_and_the_pod_is_told', async () => {
    const rig = await startRig({ pods: [[{ kind: 'hang' }]] });
    const client = await rawClient(rig, `Content-Length: ${PNG.length}`);
    client.socket.write(PNG);
    await expect.poll(() => rig.pods[0]?.pages.length).toBe(1);
    client.socket.destroy();
    await expect.poll(() => rig.pods[0]?.deleted).toEqual(['boot-1-1']);
    await rig.expectAllGivenBack();
    expect(rig.dataplane.report().pods.p0?.suspect).toBeUndefined();
  });

  test('while_a_document_waits_in_the_queue', async () => {
    const rig = await startRig();
    rig.grant([]);
    const client = await rawClient(rig, `Content-Length: ${PNG.length}`);
    client.socket.write(PNG);
    await expect.poll(() => rig.dataplane.report().pools.ocr?.waiting).toBe(1);
    client.socket.destroy();
    await rig.expectAllGivenBack();
  });

  test('during_the_answer', async () => {
    const rig = await startRig({ width: 1, pods: [[{ kind: 'read' }, { kind: 'hang' }]] });
    const pdf = makePdf({ pages: 5 });
    const client = await rawClient(rig, `Accept: application/x-ndjson\r\nContent-Length: ${pdf.length}`);
    client.socket.write(pdf);
    await expect.poll(client.text, { timeout: 10_000 }).toContain('"type":"page"');
    client.socket.destroy();
    await rig.expectAllGivenBack();
  });

  test('a_client_that_sends_a_byte_a_second_is_told_so', { timeout: 30_000 }, async () => {
    const rig = await startRig();
    const client = await rawClient(rig, 'Content-Length: 100000');
    const drip = setInterval(() => client.socket.write('x'), 1_000);
    await expect.poll(client.text, { timeout: 20_000 }).toContain('upload_too_slow');
    clearInterval(drip);
    expect(client.text()).toContain('408');
    client.socket.destroy();
    await rig.expectAllGivenBack();
  });
});

describe('overload (R-013, L11)', () => {
  const ONE_EACH = { limits: { maxInFlight: 1, maxQueued: 1 }, width: 1 } as const;

  test('what_is_beyond_the_limit_is_refused_before_its_body_is_read', async () => {
    const rig = await startRig({ ...ONE_EACH, pods: [[{ kind: 'hang' }]] });
    const open = [
      await rawClient(rig, `Content-Length: ${PNG.length}`),
      await rawClient(rig, `Content-Length: ${PNG.length}`),
    ];
    for (const client of open) client.socket.write(PNG);
    await expect.poll(() => rig.dataplane.open()).toBe(2);
    const refusedClient = await rawClient(rig, 'Content-Length: 50000000');
    await expect.poll(refusedClient.text).toContain('queue_full');
    const text = refusedClient.text();
    expect(text).toMatch(/^HTTP\/1.1 429 /);
    expect(text).toMatch(/retry-after: \d+/i);
    expect(text).not.toMatch(/connection: close/i);
    expect(text).toMatch(/x-accel-redirect: @refused_429/i);
    for (const header of [
      'X-OCR-Page-Width: 1',
      'X-OCR-Queue-Limit: 1',
      'X-OCR-Pages-In-Flight: 1',
      'X-OCR-Pages-Queued: 1',
    ]) {
      expect(text.toLowerCase()).toContain(header.toLowerCase());
    }
    expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      code: 'queue_full',
      page_width: 1,
      queue_limit: 1,
      pages_in_flight: 1,
      pages_queued: 1,
    });

    // What is read of a refused upload is a few megabytes at most; the connection stays open meanwhile.
    const chunk = Buffer.alloc(1_000_000);
    const push = () => {
      while (refusedClient.socket.bytesWritten < 50_000_000 && refusedClient.socket.write(chunk));
    };
    refusedClient.socket.on('drain', push);
    push();
    await sleep(1_000);
    expect(refusedClient.socket.destroyed).toBe(false);
    expect(refusedClient.socket.bytesWritten - refusedClient.socket.writableLength).toBeLessThan(12_000_000);
    expect(rig.dataplane.report().pools.ocr?.refused).toBe(1);
    for (const client of [...open, refusedClient]) client.socket.destroy();
    await rig.expectAllGivenBack();
  });

  test('a_caller_may_be_held_instead (R-028)', async () => {
    const rig = await startRig({ ...ONE_EACH, pods: [[{ kind: 'read', ms: 400 }]] });
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) => rig.post(PNG, { 'x-max-wait-ms': '5000', 'x-request-id': `r${n}` })),
    );
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
    await rig.expectAllGivenBack();
  });

  test('a_caller_is_held_no_longer_than_it_asked', async () => {
    const rig = await startRig({ ...ONE_EACH, pods: [[{ kind: 'hang' }]] });
    const open = [
      await rawClient(rig, `Content-Length: ${PNG.length}`),
      await rawClient(rig, `Content-Length: ${PNG.length}`),
    ];
    for (const client of open) client.socket.write(PNG);
    await expect.poll(() => rig.dataplane.open()).toBe(2);
    const started = Date.now();
    const answer = await rig.post(PNG, { 'x-max-wait-ms': '300' });
    expect(answer.status).toBe(429);
    expect(Date.now() - started).toBeGreaterThanOrEqual(290);
    for (const client of open) client.socket.destroy();
  });

  test('without_any_pod_pages_wait_and_what_cannot_wait_is_an_outage', async () => {
    const rig = await startRig(ONE_EACH);
    rig.grant([]);
    const waiting = [rig.post(PNG), rig.post(PNG)];
    await expect.poll(() => rig.dataplane.open()).toBe(2);
    const beyond = await rig.post(PNG);
    expect(beyond.status).toBe(503);
    expect(await beyond.json()).toMatchObject({ code: 'no_capacity' });
    rig.grant([{}]);
    for (const answer of await Promise.all(waiting)) expect(answer.status).toBe(200);
    await rig.expectAllGivenBack();
  });

  test('whoever_has_no_width_while_others_serve_is_full_and_no_outage', async () => {
    const rig = await startRig(ONE_EACH);
    const pool = { name: 'ocr', models: [], suspendedUntilMs: 0, servingPods: 1 };
    rig.grant([], { pools: [pool] });
    const waiting = [rig.post(PNG), rig.post(PNG)];
    await expect.poll(() => rig.dataplane.open()).toBe(2);
    const beyond = await rig.post(PNG);
    expect([beyond.status, ((await beyond.json()) as { code: string }).code]).toEqual([429, 'queue_full']);
    rig.grant([{}]);
    for (const answer of await Promise.all(waiting)) expect(answer.status).toBe(200);
    await rig.expectAllGivenBack();
  });

  test('a_suspected_pool_takes_nothing_for_a_while_and_what_waits_goes_on_afterwards (R-021)', async () => {
    const rig = await startRig();
    rig.grant([]);
    const waiting = rig.post(PNG);
    await expect.poll(() => rig.dataplane.report().pools.ocr?.waiting).toBe(1);
    rig.grant([{}], { pools: [{ name: 'ocr', models: [], suspendedUntilMs: Date.now() + 1_500 }] });
    const refused = await rig.post(PNG);
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ code: 'pool_suspected' });
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(rig.pods[0]?.pages).toEqual([]);
    expect((await waiting).status).toBe(200);
  });

  test('a_cluster_that_goes_down_takes_nothing_new_and_finishes_what_is_in', async () => {
    const rig = await startRig({ pods: [[{ kind: 'read', ms: 500 }]] });
    const inside = rig.post(PNG);
    await expect.poll(() => rig.pods[0]?.inFlight()).toBe(1);
    rig.grant([{}], { closing: true });
    const late = await rig.post(PNG, { 'x-max-wait-ms': '1000' });
    expect(late.status).toBe(503);
    expect(await late.json()).toMatchObject({ code: 'stopping' });
    expect((await inside).status).toBe(200);
  });

  test('a_pool_that_may_rent_nothing_and_has_nothing_answers_503 (R-022)', async () => {
    const rig = await startRig({ env: { PAGEFLEET_POOLS: '[{"name":"ocr","max_pods":0}]' } });
    rig.grant([]);
    const answer = await rig.post(PNG, {}, '/v1/ocr?require=fleet');
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: 'fleet_required' });
    expect(answer.headers.get('retry-after')).not.toBeNull();
  });
});

describe('answers that take long (R-027)', () => {
  const SOON = { PAGEFLEET_LIMITS_RESPONSE_PADDING_AFTER: '200ms' };

  test('headers_come_early_and_white_space_keeps_the_line_alive', async () => {
    const rig = await startRig({ pods: [[{ kind: 'read', ms: 900 }]], env: SOON });
    const started = Date.now();
    const answer = await rig.post(PNG);
    expect(Date.now() - started).toBeLessThan(800);
    const text = await answer.text();
    expect(text).toMatch(/^ +\{/);
    expect((JSON.parse(text) as OcrResponse).pages).toHaveLength(1);
  });

  test('a_late_failure_is_told_in_the_body', async () => {
    const rig = await startRig({
      pods: [[{ kind: 'hang' }]],
      env: { ...SOON, PAGEFLEET_LIMITS_PAGE_DEADLINE: '1s' },
    });
    const answer = await rig.post(PNG);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      pages: [{ index: 0, markdown: '', images: [], dimensions: null, error: { code: 'page_deadline' } }],
      error: { code: 'page_deadline' },
    });
  });

  test('a_late_failure_of_text_breaks_the_connection_off', async () => {
    const rig = await startRig({
      pods: [[{ kind: 'hang' }]],
      env: { ...SOON, PAGEFLEET_LIMITS_PAGE_DEADLINE: '1s' },
    });
    const answer = await rig.post(PNG, { accept: 'text/plain' });
    await expect(answer.text()).rejects.toThrow();
  });
});
