import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HTTPClient, Mistral } from '@mistralai/mistralai';
import { repoRoot } from '@pagefleet/runtime';
import { Agent, fetch as undiciFetch } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type TestCluster } from '../cluster.ts';
import { corpusMissing, corpusPath } from '../corpus.ts';

/** `real` reads, `slow` holds every page for longer than the impatient client below waits for a sign of life. */
const POOLS = [
  { name: 'real', min_pods: 1, max_pods: 1 },
  { name: 'slow', engine: 'sleep', sleep: '5s', min_pods: 1, max_pods: 1 },
];
let running: TestCluster;

beforeAll(async () => {
  running = await startCluster({ pools: POOLS, limits: { response_padding_after: '500ms' } });
  await running.until('both pods serve', ({ summary }) => summary.pods_ready === 2);
});
afterAll(async () => {
  await running?.down();
});

const dataUrl = (type: string, path: string) =>
  `data:${type};base64,${readFileSync(path).toString('base64')}`;
const SAMPLE = join(repoRoot(), 'docs/sample/scan.pdf');

describe('the official Mistral client with only its server URL changed', () => {
  test('reads_a_pdf', async () => {
    const client = new Mistral({ apiKey: 'none', serverURL: running.url });
    const documentUrl = dataUrl('application/pdf', SAMPLE);
    const answer = await client.ocr.process({
      model: 'real',
      document: { type: 'document_url', documentUrl },
    });
    expect(answer.pages.map(({ index }) => index)).toEqual([0, 1]);
    expect(answer.pages[0]?.markdown).toContain('32 Track MIDI Sequence Recorder');
    expect(answer.pages[0]?.dimensions?.width).toBeGreaterThan(1_000);
    expect(answer.usageInfo).toMatchObject({ pagesProcessed: 2 });
  });

  test.skipIf(corpusMissing)('reads_an_image', async () => {
    const client = new Mistral({ apiKey: 'none', serverURL: running.url });
    const imageUrl = dataUrl('image/png', corpusPath('pages', 'phototest.png'));
    const answer = await client.ocr.process({ model: 'real', document: { type: 'image_url', imageUrl } });
    expect(answer.pages[0]?.markdown).toContain('This is a lot of 12 point text');
  });

  test('gets_an_answer_that_takes_longer_than_it_waits_for_headers (R-027)', async () => {
    const dispatcher = new Agent({ headersTimeout: 2_000 });
    const fetcher = async (input: unknown): Promise<Response> => {
      const { url, method, headers } = input as Request;
      const body = new Uint8Array(await (input as Request).arrayBuffer());
      const sent = { method, headers: Object.fromEntries(headers), body, dispatcher };
      return (await undiciFetch(url, sent)) as unknown as Response;
    };
    const client = new Mistral({
      apiKey: 'none',
      serverURL: running.url,
      httpClient: new HTTPClient({ fetcher }),
    });
    const document = { type: 'document_url', documentUrl: dataUrl('application/pdf', SAMPLE) } as const;
    const startedMs = performance.now();
    const answer = await client.ocr.process({ model: 'slow', document });
    expect(performance.now() - startedMs).toBeGreaterThan(5_000);
    expect(answer.pages).toHaveLength(2);
    await dispatcher.close();
  });
});
