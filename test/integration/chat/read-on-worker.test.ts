import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OcrResponse } from '@pagefleet/contract';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { makePdf } from '../dataplane/make-pdf.ts';
import { type ChatRig, startChat } from './chat-rig.ts';

/** What our reader asks for, and the pod’s own trial does not. */
const OURS = { model: 'olmocr' };
const LOOP = 'and so on and on ';

async function picture(seed = 1): Promise<Buffer> {
  const noise = { type: 'gaussian' as const, mean: 100 + (seed % 50), sigma: 20 };
  return await sharp({ create: { width: 300, height: 400, channels: 3, background: 'white', noise } })
    .png()
    .toBuffer();
}

async function read(chat: ChatRig, body: Buffer): Promise<{ status: number; body: OcrResponse }> {
  const response = await chat.rig.post(body);
  return { status: response.status, body: (await response.json()) as OcrResponse };
}

interface Request {
  readonly model: string | null;
  readonly end: string;
  readonly body: { stream?: boolean; temperature?: number; messages: { content: unknown }[] };
}

function requestsOf({ companion }: ChatRig): Request[] {
  const lines = readFileSync(join(companion.dir, 'requests.ndjson'), 'utf8').trim().split('\n');
  const all = lines.map((line) => JSON.parse(line) as Request);
  return all.filter(({ model }) => model === OURS.model);
}

describe('a page of a pool on a stock image is read on the worker (decision 0012)', () => {
  test('drawn_prompted_and_parsed_here_it_comes_back_like_any_other', async () => {
    const chat = await startChat({ isStock: true });
    const { status, body } = await read(chat, await picture());
    expect([status, body]).toMatchObject([
      200,
      { pages: [{ engine: 'olmocr (allenai/olmOCR-2-7B-1025-FP8)' }] },
    ]);
    expect(body.pages[0]?.markdown).toContain('simulated');
    expect(body.pages[0]?.dimensions).toMatchObject({ height: 1288 });
    const [request, ...more] = requestsOf(chat);
    expect(more).toEqual([]);
    expect(request).toMatchObject({ model: 'olmocr', end: 'stop', body: { stream: true, temperature: 0.1 } });
    const metrics = await (await fetch(`${chat.rig.url}/metrics`)).text();
    expect(metrics).toContain('pagefleet_readings_asked_total{pool="ocr"} 1');
    await chat.rig.expectAllGivenBack();
  });

  test('a_loop_is_abandoned_while_it_streams_and_counted_and_the_next_try_is_taken (R-071)', async () => {
    const chat = await startChat({
      isStock: true,
      script: { rules: [{ when: { ...OURS, nth: 1 }, reply: { loop: LOOP } }] },
    });
    const { status } = await read(chat, await picture());
    expect(status).toBe(200);
    const requests = requestsOf(chat);
    expect(requests.map(({ end }) => end)).toEqual(['aborted', 'stop']);
    const metrics = await (await fetch(`${chat.rig.url}/metrics`)).text();
    expect(metrics).toContain('pagefleet_readings_rejected_total{pool="ocr",reason="looped"} 1');
    expect(Number(/rejected_tokens_total\{.*looped"\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThan(100);
    await chat.rig.expectAllGivenBack();
  });

  test('a_page_that_is_no_picture_inside_is_told_for_itself_and_no_pod_is_blamed', async () => {
    const chat = await startChat({ isStock: true });
    const broken = (await picture()).subarray(0, 200);
    const { status, body } = await read(chat, broken);
    expect(status).toBe(422);
    expect(body).toMatchObject({ code: 'page_unreadable' });
    expect(requestsOf(chat)).toEqual([]);
    expect(chat.rig.dataplane.report().pods.pod?.suspect).toBeUndefined();
    await chat.rig.expectAllGivenBack();
  });

  test('replies_that_cannot_be_used_end_as_page_unreadable_without_another_pod (R-070)', async () => {
    const chat = await startChat({
      isStock: true,
      pool: { reading: { retries: 1 } },
      script: { rules: [{ when: OURS, reply: { text: 'no front matter' } }] },
    });
    const { status, body } = await read(chat, await picture());
    expect([status, body]).toMatchObject([422, { code: 'page_unreadable' }]);
    expect(requestsOf(chat)).toHaveLength(2);
    await chat.rig.expectAllGivenBack();
  });

  test('a_model_server_that_dies_over_a_page_is_the_pods_failure_and_another_reading_is_begun', async () => {
    const chat = await startChat({
      isStock: true,
      script: { rules: [{ when: { ...OURS, nth: 1 }, reply: { text: 'a b c d e f', dies: 2 } }] },
      env: { PAGEFLEET_CONTROL_PROBE_INTERVAL: '200ms', PAGEFLEET_CONTROL_TRIAL_DELAY: '1s' },
    });
    const reading = read(chat, await picture());
    // The server that comes after it would die of its first page as well.
    await expect.poll(() => chat.companion.starts().length, { timeout: 20_000 }).toBe(2);
    chat.companion.setScript({});
    expect((await reading).status).toBe(200);
    expect(chat.companion.starts()).toHaveLength(2);
    await chat.rig.expectAllGivenBack();
  });

  test('64_pages_in_flight_on_one_pod_all_run_in_the_engine_at_once (R-012, R-073)', async () => {
    const width = 64;
    const chat = await startChat({
      ...{ isStock: true, width, limits: { maxInFlight: 256, maxQueued: 256 } },
      script: { tokensPerS: 40, rules: [{ when: OURS, reply: { slowFirstTokenMs: 10_000 } }] },
    });
    const body = makePdf({ pages: width });
    const response = await chat.rig.post(body);
    expect(response.status).toBe(200);
    expect(((await response.json()) as OcrResponse).pages).toHaveLength(width);
    expect(await chat.companion.stats()).toMatchObject({ maxRunning: width, waiting: 0 });
    await chat.rig.expectAllGivenBack();
  });
});
