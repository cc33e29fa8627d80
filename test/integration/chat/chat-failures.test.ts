import { setTimeout as sleep } from 'node:timers/promises';
import {
  APIConnectionError,
  APIError,
  AuthenticationError,
  InternalServerError,
  RateLimitError,
} from 'openai';
import { describe, expect, test } from 'vitest';
import { TOKEN } from '../companion/companion-process.ts';
import { type ChatRig, MODEL, startChat } from './chat-rig.ts';

const CHAT = '/v1/chat/completions';
const asked = (content: string) => ({ model: MODEL, messages: [{ role: 'user' as const, content }] });
const streamed = (content: string) => ({ ...asked(content), stream: true as const });

/** Long enough to be caught in the middle: some 20 tokens a second. */
const SLOW = { tokensPerS: 20, rules: [{ reply: { text: 'word '.repeat(400), slowFirstTokenMs: 50 } }] };

/** The pod's own trial of its model server is not meant. */
const TOLD = { textContains: 'tell' };

/** Listens to a stream as the official client does, and tells how it ended. */
async function listen(
  chat: ChatRig,
  onChunk: (count: number) => void = () => undefined,
): Promise<{ chunks: number; error: unknown }> {
  let chunks = 0;
  try {
    for await (const _ of await chat.ours.chat.completions.create(streamed('tell'))) {
      chunks += 1;
      onChunk(chunks);
    }
    return { chunks, error: null };
  } catch (error) {
    return { chunks, error };
  }
}

describe('a chat whose client leaves', () => {
  test('is_ended_in_the_model_server_at_once_and_its_slot_comes_back (R-020, L14)', async () => {
    const chat = await startChat({ script: SLOW });
    const stream = await chat.ours.chat.completions.create(streamed('tell'));
    for await (const _ of stream) break;
    await expect.poll(async () => (await chat.companion.stats()).running, { timeout: 3_000 }).toBe(0);
    await chat.rig.expectAllGivenBack();
    expect(chat.rig.dataplane.report().pods.pod?.suspect).toBeUndefined();
  });

  test('before_the_answer_began_is_ended_too', async () => {
    const chat = await startChat({ script: SLOW, width: 1 });
    const hangUp = new AbortController();
    const given = [asked('one'), asked('two')].map((body) =>
      chat.ours.chat.completions.create(body, { signal: hangUp.signal }).catch((error) => error),
    );
    await expect.poll(async () => (await chat.companion.stats()).running, { timeout: 3_000 }).toBe(1);
    hangUp.abort();
    for (const one of given) expect(await one).toBeInstanceOf(APIError);
    await expect.poll(async () => (await chat.companion.stats()).running, { timeout: 3_000 }).toBe(0);
    await chat.rig.expectAllGivenBack();
  });
});

describe('an answer that breaks off is never a clean end (R-024)', () => {
  test('the_model_server_is_killed_in_the_middle_of_a_stream', async () => {
    const chat = await startChat({ script: SLOW });
    const { chunks, error } = await listen(chat, (count) => {
      if (count === 3) for (const pid of chat.companion.alive()) process.kill(pid, 'SIGKILL');
    });
    expect(chunks).toBeGreaterThanOrEqual(3);
    expect(error).toBeInstanceOf(APIError);
    expect((error as APIError).error).toMatchObject({ code: 'pod_failed', type: 'server_error' });
    await chat.rig.expectAllGivenBack();
  });

  test('the_whole_pod_is_killed_in_the_middle_of_a_stream', async () => {
    const chat = await startChat({ script: SLOW, env: { PAGEFLEET_CONTROL_PROBE_INTERVAL: '100ms' } });
    const { error } = await listen(chat, (count) => {
      if (count === 3) chat.companion.child.kill('SIGKILL');
    });
    expect(error).toBeInstanceOf(APIError);
    expect(chat.rig.dataplane.report().pods.pod?.suspect).toMatchObject({ kind: 'unreachable' });
    await chat.rig.expectAllGivenBack();
  });

  test.each([
    ['cut_in_an_event', { truncate: 4 }, 'pod_failed'],
    ['ended_in_order_without_its_mark', { endsEarly: 4 }, 'engine_failed'],
  ])('a_stream_%s', async (_name, how, code) => {
    const chat = await startChat({
      script: { rules: [{ when: TOLD, reply: { text: 'a b c d e f g h', ...how } }] },
      env: { PAGEFLEET_CONTROL_TRIAL_DELAY: '1s' },
    });
    const { error } = await listen(chat);
    expect(error).not.toBeNull();
    const raw = await (await chat.post(CHAT, streamed('tell'))).text();
    expect(raw).not.toContain('[DONE]');
    expect(JSON.parse(raw.trimEnd().split('\n\n').at(-1)?.slice('data: '.length) ?? '')).toMatchObject({
      error: { code },
    });
  });

  test('a_buffered_answer_that_breaks_off_is_cut', async () => {
    const chat = await startChat({
      script: { rules: [{ when: TOLD, reply: { text: 'a b c', truncate: 1 } }] },
    });
    const failure = await chat.ours.chat.completions.create(asked('tell')).catch((error) => error);
    expect(failure).toBeInstanceOf(Error);
    await chat.rig.expectAllGivenBack();
  });

  test('a_500_of_the_model_server_is_tried_again_and_then_told_as_ours', async () => {
    const chat = await startChat({
      script: { rules: [{ when: TOLD, reply: { error: { status: 500 } } }] },
      env: { PAGEFLEET_LIMITS_PAGE_ATTEMPTS: '2', PAGEFLEET_CONTROL_TRIAL_DELAY: '1s' },
    });
    const failure = await chat.ours.chat.completions.create(asked('tell')).catch((error) => error);
    expect(failure).toBeInstanceOf(InternalServerError);
    expect(failure.error).toMatchObject({
      code: 'engine_failed',
      type: 'server_error',
      request_id: expect.any(String),
    });
    await chat.rig.expectAllGivenBack();
  });
});

describe('a failure before the first byte', () => {
  test('is_tried_on_another_pod_and_the_client_sees_nothing (DESIGN 7.6)', async () => {
    const chat = await startChat();
    const url = `http://127.0.0.1:${await chat.companion.port()}`;
    chat.rig.grant([
      { id: 'dead', url: 'http://127.0.0.1:1', token: 'x' },
      { id: 'pod', url, token: TOKEN },
    ]);
    for (let n = 0; n < 3; n += 1)
      expect((await chat.ours.chat.completions.create(asked('x'))).choices).toHaveLength(1);
    expect(chat.rig.dataplane.report().pods.dead?.suspect).toMatchObject({ kind: 'unreachable' });
  });
});

describe('a chat at the door', () => {
  test('is_refused_from_its_headers_with_429_and_the_figures_or_held (R-013, R-028)', async () => {
    const chat = await startChat({ script: SLOW, width: 1, limits: { maxInFlight: 1, maxQueued: 1 } });
    const hangUp = new AbortController();
    const open = [1, 2].map((n) =>
      chat.ours.chat.completions.create(asked(`${n}`), { signal: hangUp.signal }).catch((error) => error),
    );
    await expect.poll(() => chat.rig.dataplane.report().pools.ocr?.waiting).toBe(1);
    const failure = await chat.ours.chat.completions.create(asked('3')).catch((error) => error);
    expect(failure).toBeInstanceOf(RateLimitError);
    expect(failure.error).toMatchObject({
      code: 'queue_full',
      page_width: 1,
      queue_limit: 1,
      pages_in_flight: 1,
    });
    expect(Number(failure.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(failure.headers.get('x-ocr-page-width')).toBe('1');

    const held = chat.ours.chat.completions
      .create(asked('4'), { headers: { 'x-max-wait-ms': '20000' } })
      .catch((error) => error);
    await sleep(300);
    chat.companion.setScript({ rules: [{ reply: { text: 'held and read' } }] });
    hangUp.abort();
    expect((await held).choices[0].message.content).toBe('held and read');
    await Promise.all(open);
    await chat.rig.expectAllGivenBack();
  });

  test('without_a_key_it_is_401_in_openais_shape', async () => {
    const sha256 = 'ab'.repeat(32);
    const chat = await startChat({
      env: { PAGEFLEET_API_KEYS: JSON.stringify([{ name: 'a', sha256, role: 'client' }]) },
    });
    const failure = await chat.ours.chat.completions.create(asked('x')).catch((error) => error);
    expect(failure).toBeInstanceOf(AuthenticationError);
    expect(failure.error).toMatchObject({ code: 'unauthorized', type: 'invalid_request_error' });
  });

  test('another_method_is_405_and_a_packed_body_415_in_openais_shape', async () => {
    const chat = await startChat();
    const got = await fetch(`${chat.rig.url}${CHAT}`);
    expect([got.status, await got.json()]).toMatchObject([405, { error: { code: 'method_not_allowed' } }]);
    const packed = await chat.post(CHAT, asked('x'), { 'content-encoding': 'gzip' });
    expect([packed.status, await packed.json()]).toMatchObject([415, { error: { param: null } }]);
  });

  test('a_body_of_many_megabytes_is_read_in_a_thread_and_passed_on_whole', async () => {
    const chat = await startChat();
    const padded = { ...asked('x'), metadata: { note: 'n'.repeat(9_000_000) } };
    const [through, straight] = [await chat.post(CHAT, padded), await chat.postDirect(CHAT, padded)];
    expect(through.status).toBe(200);
    expect(await through.text()).toBe(await straight.text());
    await chat.rig.expectAllGivenBack();
  });
});

describe('a buffered answer that takes long (R-027)', () => {
  test('sends_its_headers_early_and_white_space_and_is_the_same_json', async () => {
    const chat = await startChat({
      script: { rules: [{ when: TOLD, reply: { text: 'late', slowFirstTokenMs: 1_500 } }] },
      env: { PAGEFLEET_LIMITS_RESPONSE_PADDING_AFTER: '500ms' },
    });
    const sentAtMs = performance.now();
    const response = await chat.post(CHAT, asked('tell'));
    expect(performance.now() - sentAtMs).toBeLessThan(1_400);
    const text = await response.text();
    expect(text).toMatch(/^ \{/);
    expect(JSON.parse(text).choices[0].message.content).toBe('late');
  });

  test('whose_failure_comes_too_late_for_a_status_is_cut', async () => {
    const chat = await startChat({
      script: { rules: [{ when: TOLD, reply: { text: 'a b c d', slowFirstTokenMs: 1_200, truncate: 1 } }] },
      env: { PAGEFLEET_LIMITS_RESPONSE_PADDING_AFTER: '500ms', PAGEFLEET_LIMITS_PAGE_ATTEMPTS: '1' },
    });
    const failure = await chat.ours.chat.completions.create(asked('tell')).catch((error) => error);
    expect(failure).not.toHaveProperty('choices');
    expect(failure).toBeInstanceOf(Error);
    expect(failure instanceof APIConnectionError || /terminated|aborted/.test(String(failure))).toBe(true);
  });
});
