import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { APIError } from 'openai';
import { describe, expect, test } from 'vitest';
import { type ChatRig, MODEL, startChat } from './chat-rig.ts';

const CHAT = '/v1/chat/completions';
const streamed = (content: string) => ({
  ...{ model: MODEL, messages: [{ role: 'user' as const, content }] },
  stream: true as const,
});
const DEADLINE_S = 2;
const env = { PAGEFLEET_LIMITS_PAGE_DEADLINE: `${DEADLINE_S}s` };
/** The pod's own trial of its model server is not meant. */
const TOLD = { textContains: 'tell' };

/** The head of a stream whose body nobody takes until the test does. */
async function openRaw({ rig }: ChatRig, body: object): Promise<IncomingMessage> {
  const call = request(`${rig.url}${CHAT}`, {
    ...{ method: 'POST', agent: false, headers: { 'content-type': 'application/json' } },
  });
  call.on('error', () => undefined);
  call.end(JSON.stringify(body));
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  return response;
}

describe('a chat at its deadline (limits.page_deadline)', () => {
  test('a_stream_that_is_not_over_gets_the_error_event_and_no_pod_is_blamed', async () => {
    const script = { tokensPerS: 20, rules: [{ when: TOLD, reply: { text: 'word '.repeat(400) } }] };
    const chat = await startChat({ env, script });
    const failure = await (async () => {
      for await (const _ of await chat.ours.chat.completions.create(streamed('tell')));
    })().catch((error) => error);
    expect(failure).toBeInstanceOf(APIError);
    expect(failure.error).toMatchObject({ code: 'page_deadline' });
    expect(chat.rig.dataplane.report().pods.pod?.suspect).toBeUndefined();
    await expect.poll(async () => (await chat.companion.stats()).running).toBe(0);
    await chat.rig.expectAllGivenBack();
  });

  test('a_client_that_takes_nothing_holds_its_slot_no_longer_and_no_pod_is_blamed (R-020, L10)', async () => {
    // More than the buffers of the kernel on the way take.
    const event = { status: 500, message: 'x'.repeat(48_000_000), afterTokens: 1 };
    const script = { rules: [{ when: TOLD, reply: { text: 'one two', error: event } }] };
    const chat = await startChat({ env, script });
    const response = await openRaw(chat, streamed('tell'));
    await sleep(DEADLINE_S * 500);
    expect(chat.rig.dataplane.report().pods.pod?.inflight).toBe(1);
    await expect
      .poll(() => chat.rig.dataplane.report().pods.pod?.inflight, { timeout: DEADLINE_S * 1_000 + 6_000 })
      .toBe(0);
    expect(chat.rig.dataplane.report().pods.pod?.suspect).toBeUndefined();
    let last = '';
    for await (const chunk of response) last = (last + String(chunk)).slice(-2_000);
    expect(last).toContain('"code":"page_deadline"');
    expect(last).not.toContain('[DONE]');
    await chat.rig.expectAllGivenBack();
  });
});
