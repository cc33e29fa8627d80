import { describe, expect, test } from 'vitest';
import { until } from '../gateway/gateway-process.ts';
import { MODEL, startCompanion, TOKEN, usualMs } from './companion-process.ts';

/** Long enough to be in flight while a test looks at it. */
const SLOW = { tokensPerS: 50, loadedTokensPerS: 100_000, rules: [{ reply: { loop: 'again and ' } }] };
const codeOf = (body: string): string => JSON.parse(body).code;

describe('the companion of a stock image (decision 0012)', () => {
  test('proves_who_it_is_and_says_what_it_runs_with (R-025, R-045)', async () => {
    const one = startCompanion({
      env: { PAGEFLEET_POD_NEW_THING: '1' },
      settings: { serverEnv: ['A=secret1'] },
    });
    const { isProven, health } = await one.health();
    expect(isProven).toBe(true);
    expect(health).toMatchObject({
      v: 1,
      engineName: 'surya',
      width: 4,
      inflight: 0,
      waiting: 0,
      configHash: 'hash',
    });
    expect(health.settings).toMatchObject({ deadManMs: 60_000, spot: false, serverEnv: ['A'], pool: 'ocr' });
    expect(health.unknownSettings).toEqual(['PAGEFLEET_POD_NEW_THING']);
    expect(JSON.stringify(health)).not.toMatch(new RegExp(`${TOKEN}|secret1`));
    expect((await one.until('ready')).engineVersion).not.toBe('');
  });

  test('is_ready_only_when_one_real_page_was_read (R-040)', async () => {
    const one = startCompanion({ script: { startMs: 300 } });
    await one.until('ready');
    const pages = (await one.direct('GET', '/sim/stats')).body;
    expect(JSON.parse(pages).requests).toBeGreaterThanOrEqual(1);
  });

  test('passes_a_reply_on_as_the_model_server_wrote_it (R-024)', async () => {
    const script = { repeatable: true, cuts: 1, rules: [{ reply: { text: 'käse 🧀 and more of it' } }] };
    const one = startCompanion({ script });
    await one.until('ready');
    for (const stream of [false, true]) {
      const body = { model: MODEL, messages: [{ role: 'user', content: 'hello' }], stream };
      const [through, straight] = [
        await one.chat(`same-${stream}`, body),
        await one.direct('POST', '/v1/chat/completions', body),
      ];
      expect(through.body).toBe(straight.body);
      expect(through.headers['content-type']).toBe(straight.headers['content-type']);
      expect([through.status, straight.status]).toEqual([200, 200]);
    }
  });

  test('passes_a_400_of_the_model_server_on_as_it_is (R-024)', async () => {
    const one = startCompanion();
    await one.until('ready');
    const body = { model: 'nobody' };
    const through = await one.chat('wrong', body);
    expect(through.status).toBe(404);
    expect(JSON.parse(through.body)).toMatchObject({ error: { message: expect.stringContaining('nobody') } });
  });

  test('refuses_strangers_other_owners_and_what_it_does_not_take (R-037, R-044)', async () => {
    const one = startCompanion({ settings: { maxPageBytes: 1_000 } });
    await one.until('ready');
    const refused = async (headers: Record<string, string>, body = {}) => {
      const { status, body: text } = await one.chat('p', body, headers);
      return [status, codeOf(text)];
    };
    expect(await refused({ authorization: 'Bearer no' })).toEqual([401, 'unauthorized']);
    expect(await refused({ 'x-owner': 'others' })).toEqual([409, 'wrong_owner']);
    expect(await refused({ 'x-page-id': 'a b' })).toEqual([400, 'bad_request']);
    expect(await refused({ 'x-page-deadline-ms': 'soon' })).toEqual([400, 'bad_request']);
    expect(await refused({}, { long: 'x'.repeat(2_000) })).toEqual([413, 'payload_too_large']);
    const asked = async (method: string, path: string) => {
      const { status, body } = await one.ask(method, path);
      return [status, codeOf(body)];
    };
    expect(await asked('POST', '/v1/page')).toEqual([404, 'not_found']);
    expect(await asked('GET', '/v1/chat/completions')).toEqual([405, 'method_not_allowed']);
    expect(await asked('POST', '/v1/chat/completions')).toEqual([400, 'bad_request']);
    expect(
      JSON.parse((await one.chat('q', {}, { 'x-request-id': 'r-1', authorization: '' })).body),
    ).toMatchObject({
      ...{ object: 'error', type: 'invalid_request_error', param: null, request_id: 'r-1' },
    });
  });

  test('runs_its_width_holds_as_many_and_refuses_the_next (R-043, law L10)', async () => {
    const one = startCompanion({ settings: { width: 2 }, script: SLOW });
    await one.until('ready');
    const inside = async () => {
      const { inflight, waiting } = (await one.health()).health;
      return [inflight, waiting];
    };
    // One after the other: who came first decides who runs and who waits.
    const open: ReturnType<typeof one.open>[] = [];
    for (const expected of ['1,0', '2,0', '2,1', '2,2']) {
      open.push(one.open(`w-${open.length}`, { max_tokens: 5_000, stream: true }));
      await until(async () => String(await inside()) === expected, `running and waiting are ${expected}`);
    }
    const next = await one.chat('w-4');
    expect([next.status, codeOf(next.body), next.headers['retry-after']]).toEqual([429, 'pod_full', '1']);
    expect((await one.stats()).running).toBe(2);
    open[0]?.hangUp();
    await open[2]?.head;
    await until(async () => (await one.stats()).running === 2, 'the next one took the slot');
    for (const one of open) one.hangUp();
    await until(async () => (await one.health()).health.inflight === 0, 'all slots are free');
    expect((await one.chat('w-5', { max_tokens: 3 })).status).toBe(200);
    expect((await one.stats()).maxRunning).toBe(2);
  });

  test('ends_a_page_by_its_id_and_says_when_it_is_over (law L14)', async () => {
    const one = startCompanion({ script: SLOW });
    await one.until('ready');
    const page = one.open('c-1', { max_tokens: 5_000, stream: true });
    await page.head;
    const ended = await one.ask('DELETE', '/v1/page/c-1');
    expect(JSON.parse(ended.body)).toEqual({ state: 'over' });
    await expect(page.answer).rejects.toThrow();
    await until(async () => (await one.stats()).running === 0, 'the sequence is free');
    expect(codeOf((await one.chat('c-1')).body)).toBe('conflict');
    expect(JSON.parse((await one.ask('DELETE', '/v1/page/never')).body)).toEqual({ state: 'unknown' });
    expect(codeOf((await one.chat('never')).body)).toBe('conflict');
  });

  test('a_hang_up_frees_the_sequence_and_the_same_id_may_ask_again (R-071)', async () => {
    const one = startCompanion({ script: SLOW });
    await one.until('ready');
    const streamed = one.open('h-1', { max_tokens: 5_000, stream: true });
    // Nothing of it is written before its end, so no write can fail.
    const whole = one.open('h-2', { max_tokens: 5_000 });
    await streamed.head;
    await until(async () => (await one.stats()).running === 2, 'both are read');
    for (const page of [streamed, whole]) page.hangUp();
    const again = await Promise.all(['h-1', 'h-2'].map((id) => one.chat(id, { max_tokens: 3 })));
    expect(again.map(({ status }) => status)).toEqual([200, 200]);
    await until(async () => (await one.stats()).running === 0, 'the sequences are free');
  });

  test('gives_up_at_the_deadline_of_its_sender (R-026)', async () => {
    const one = startCompanion({ script: SLOW });
    await one.until('ready');
    const late = await one.chat('d-1', { max_tokens: 5_000 }, { 'x-page-deadline-ms': '300' });
    expect([late.status, codeOf(late.body)]).toEqual([504, 'page_deadline']);
    const cut = one.open('d-2', { max_tokens: 5_000, stream: true }, { 'x-page-deadline-ms': '300' });
    expect((await cut.head).statusCode).toBe(200);
    await expect(cut.answer).rejects.toThrow();
    await until(async () => (await one.stats()).running === 0, 'the sequences are free');
  });

  test('answers_its_health_within_10_ms_with_64_pages_in_flight (R-041)', async () => {
    const one = startCompanion({ settings: { width: 64 }, script: { ...SLOW, tokensPerS: 30 } });
    await one.until('ready');
    const open = Array.from({ length: 64 }, (_, n) =>
      one.open(`f-${n}`, { max_tokens: 10_000, stream: true }),
    );
    // Left unread: what reading them costs this process is not the pod's.
    await Promise.all(open.map(({ head }) => head));
    expect((await one.stats()).running).toBe(64);
    expect(await usualMs(async () => (await one.health()).ms)).toBeLessThan(10);
    for (const one of open) one.hangUp();
  });
});
