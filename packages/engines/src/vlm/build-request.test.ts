import { ENGINE_PROFILES } from '@pagefleet/contract';
import { expect, test } from 'vitest';
import { buildRequest, type RequestParts } from './build-request.ts';

const PICTURE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AQI=' } };
const PROMPT = { type: 'text', text: 'read this' };
const requestOf = (of: RequestParts) => JSON.parse(Buffer.from(buildRequest(of)).toString());
const parts = (profile: keyof typeof ENGINE_PROFILES, more: Partial<RequestParts> = {}): RequestParts => ({
  profile: ENGINE_PROFILES[profile],
  prompt: 'read this',
  picture: { base64: Buffer.from('AQI='), mime: 'image/png' },
  ask: { temperature: 0.25, topP: 0.5, rotation: 0, prefix: null },
  maxTokens: 77,
  trace: false,
  reply: 'streamed',
  ...more,
});

test('surya_gets_the_picture_first_and_is_asked_for_probabilities (R-070)', () => {
  expect(requestOf(parts('surya'))).toEqual({
    model: 'datalab-to/surya-ocr-2',
    messages: [{ role: 'user', content: [PICTURE, PROMPT] }],
    max_tokens: 77,
    temperature: 0.25,
    top_p: 0.5,
    logprobs: true,
    stream: true,
    stream_options: { include_usage: true },
  });
});

test('chandra_gets_the_picture_first_and_probabilities_only_on_demand (R-070)', () => {
  const request = requestOf(parts('chandra', { reply: 'whole' }));
  expect(request).toEqual({
    model: 'chandra',
    messages: [{ role: 'user', content: [PICTURE, PROMPT] }],
    max_tokens: 77,
    temperature: 0.25,
    top_p: 0.5,
  });
  expect(requestOf(parts('chandra', { trace: true }))).toHaveProperty('logprobs', true);
});

test('olmocr_gets_the_prompt_first_and_no_top_p (R-070)', () => {
  const ask = { temperature: 0.1, topP: null, rotation: 0, prefix: null } as const;
  const request = requestOf(parts('olmocr', { ask, reply: 'whole' }));
  expect(request).toEqual({
    model: 'olmocr',
    messages: [{ role: 'user', content: [PROMPT, PICTURE] }],
    max_tokens: 77,
    temperature: 0.1,
  });
});

test('a_cut_reply_is_gone_on_with_where_it_was_cut (R-070)', () => {
  const ask = { temperature: 0, topP: 0.1, rotation: 0, prefix: '<div>half' } as const;
  expect(requestOf(parts('surya', { ask }))).toMatchObject({
    messages: [{ role: 'user' }, { role: 'assistant', content: '<div>half' }],
    continue_final_message: true,
    add_generation_prompt: false,
  });
});
