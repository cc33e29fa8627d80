import type { OcrResponse } from '@pagefleet/contract';
import { describe, expect, test } from 'vitest';
import { PNG } from './pictures.ts';
import { startRig } from './rig.ts';

describe('one page through one pod', () => {
  test('a_png_as_raw_body_comes_back_as_mistrals_json', async () => {
    const rig = await startRig();
    const answer = await rig.post(PNG, { 'x-request-id': 'r-1' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-request-id')).toBe('r-1');
    const body = (await answer.json()) as OcrResponse;
    expect(body.pages).toEqual([
      {
        index: 0,
        markdown: 'text of boot-1-1',
        images: [],
        dimensions: { dpi: 200, height: 200, width: 100 },
        engine: 'fake',
        rotation: 0,
      },
    ]);
    expect(body).toMatchObject({
      model: 'ocr',
      usage_info: { pages_processed: 1, doc_size_bytes: PNG.length },
      request_id: 'r-1',
      document_annotation: null,
    });
    expect(rig.pods[0]?.pages).toMatchObject([
      { id: 'boot-1-1', bytes: PNG.length, token: 'Bearer token-0' },
    ]);
    await rig.expectAllGivenBack();
  });
});
