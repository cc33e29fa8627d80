import { PagefleetError } from '@pagefleet/contract';
import { describe, expect, test } from 'vitest';
import type { Drawing } from './drawing.ts';
import { type ModelServer, ReplyTimeout, ServerRefusal, type ServerResponse } from './model-server.ts';
import { createVlmReader, type ReadingEvents, type ReadingSettings } from './vlm-reader.ts';

type Said = { text: string; finish?: string; logprob?: number } | { status: number } | 'nothing';
interface Asked {
  readonly temperature: number;
  readonly max_tokens: number;
  readonly messages: readonly { role: string; content: unknown }[];
}

const SETTINGS: ReadingSettings = {
  ...{ profile: 'surya', prompt: 'read this', maxTokens: 0, maxModelLen: 0, continuations: 0, retries: -1 },
  ...{ timeoutMs: 60_000, accentRepair: false, tokenTrace: false },
  loop: { firstLook: 2_000, step: 500, hits: 2 },
};
const html = (text: string): string => `<div data-label="Text" data-bbox="0 0 1000 1000">${text}</div>`;
const LOOP = html('and so on '.repeat(900));

function rig(replies: readonly Said[], settings: Partial<ReadingSettings> = {}) {
  const asked: Asked[] = [];
  const turns: number[] = [];
  const rejected: string[] = [];
  const drawing: Drawing = {
    async draw({ load }, rotation) {
      turns.push(rotation);
      return {
        base64: Buffer.from(Buffer.from(await load()).toString('base64')),
        mime: 'image/png',
        width: 800,
        height: 1_000,
        dpi: 192,
      };
    },
  };
  const server: ModelServer = {
    connection: {},
    async post({ encode, signal }) {
      asked.push(JSON.parse(Buffer.from(await encode()).toString()));
      return await answer(replies[asked.length - 1] ?? 'nothing', signal);
    },
  };
  const reader = createVlmReader({ ...SETTINGS, ...settings }, drawing);
  const events: ReadingEvents = { asked: () => undefined, rejected: (why) => void rejected.push(why) };
  const hangUp = new AbortController();
  const page = { load: async () => new Uint8Array([1]), kind: 'png', signal: hangUp.signal } as const;
  return { asked, turns, rejected, hangUp, read: () => reader.read(page, server, events) };
}

async function answer(said: Said, signal: AbortSignal): Promise<ServerResponse> {
  if (said === 'nothing') {
    return await new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
    );
  }
  if ('status' in said) return { status: said.status, contentType: 'text/plain', body: chunksOf('why') };
  const { text, finish = 'stop', logprob } = said;
  const logprobs = logprob === undefined ? null : { content: [{ token: 'x', logprob }] };
  const events = (text.match(/[\s\S]{1,200}/g) ?? []).map((content) => ({ delta: { content }, logprobs }));
  const stream = [...events, { delta: {}, finish_reason: finish }]
    .map((choice) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`)
    .join('');
  return { status: 200, contentType: 'text/event-stream', body: chunksOf(`${stream}data: [DONE]\n\n`) };
}

async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += 999) yield Buffer.from(text.slice(at, at + 999));
}

test('a_page_is_read_with_one_request_as_the_engine_asks (R-070)', async () => {
  const { read, asked } = rig([{ text: html('hello'), logprob: Math.log(0.5) }]);
  const { engineMs, ...result } = await read();
  expect(result).toEqual({
    ...{ text: 'hello', markdown: 'hello', width: 800, height: 1_000, dpi: 192, rotation: 0 },
    confidence: expect.closeTo(50, 5),
    engine: 'surya (datalab-to/surya-ocr-2)',
    blocks: [{ kind: 'text', text: 'hello', confidence: null, box: { x0: 0, y0: 0, x1: 800, y1: 1_000 } }],
  });
  expect(engineMs).toBeGreaterThanOrEqual(0);
  expect(asked).toMatchObject([{ temperature: 0, max_tokens: 12_288 }]);
});

describe('a page that', () => {
  test('loops_is_abandoned_and_tried_again_hotter_as_one_rejected_at_its_end (R-071)', async () => {
    const { read, asked, rejected } = rig([
      { text: LOOP },
      { text: LOOP, finish: 'length' },
      { text: html('good') },
    ]);
    expect((await read()).text).toBe('good');
    expect(asked.map(({ temperature }) => temperature)).toEqual([0, 0.2, 0.4]);
    expect(rejected).toEqual(['looped', 'looped']);
  });

  test('loops_with_the_switch_off_is_judged_when_it_has_ended (R-071)', async () => {
    const { read, rejected } = rig([{ text: LOOP, finish: 'length' }, { text: html('good') }], {
      loop: null,
    });
    expect((await read()).text).toBe('good');
    expect(rejected).toEqual(['loop']);
  });

  test('loops_in_every_try_is_given_up_with_its_reason (R-021)', async () => {
    const { read, asked } = rig([0, 1, 2, 3].map(() => ({ text: LOOP })));
    await expect(read()).rejects.toMatchObject({
      code: 'page_unreadable',
      message: expect.stringMatching(/repeated itself in the last of 4 tries/),
    });
    expect(asked).toHaveLength(4);
  });

  test('is_cut_is_gone_on_with_and_its_parts_are_one_reply (R-070)', async () => {
    const whole = html('the beginning and the end');
    const { read, asked } = rig([{ text: whole.slice(0, 60), finish: 'length' }, { text: whole.slice(60) }], {
      continuations: 1,
    });
    expect((await read()).text).toBe('the beginning and the end');
    expect(asked[1]?.messages[1]).toEqual({ role: 'assistant', content: whole.slice(0, 60) });
  });

  test('is_cut_without_continuations_is_tried_again_from_the_start', async () => {
    const { read, rejected } = rig([
      { text: html('x').slice(0, 50), finish: 'length' },
      { text: html('whole') },
    ]);
    expect((await read()).text).toBe('whole');
    expect(rejected).toEqual(['cut']);
  });

  test('lies_is_turned_as_the_reply_says_and_asked_for_again (R-070)', async () => {
    const reply = (valid: boolean, by: number, text: string) => ({
      text: `---\nis_rotation_valid: ${valid}\nrotation_correction: ${by}\n---\n${text}`,
    });
    const { read, turns, rejected } = rig([reply(false, 270, ''), reply(true, 0, 'upright')], {
      profile: 'olmocr',
    });
    expect(await read()).toMatchObject({ text: 'upright', rotation: 270 });
    expect(turns).toEqual([0, 270]);
    expect(rejected).toEqual(['turned']);
  });

  test('ends_by_itself_in_a_repetition_in_every_try_is_like_that', async () => {
    const refrain = html('ha '.repeat(40));
    const { read, asked } = rig([0, 1, 2, 3].map(() => ({ text: refrain })));
    expect((await read()).text).toMatch(/^(ha ?)+$/);
    expect(asked).toHaveLength(4);
  });
});

describe('what is no fault of the page', () => {
  test('a_refusal_of_the_server_is_told_as_it_is_after_one_request (R-072)', async () => {
    const { read, asked } = rig([{ status: 503 }]);
    await expect(read()).rejects.toThrow(ServerRefusal);
    expect(asked).toHaveLength(1);
  });

  test('a_server_that_does_not_reply_in_time_is_no_client_that_left', async () => {
    await expect(rig(['nothing'], { timeoutMs: 20 }).read()).rejects.toThrow(ReplyTimeout);
  });

  test('a_client_that_left_is_told_as_that', async () => {
    const { read, hangUp } = rig(['nothing']);
    const reading = read();
    setTimeout(() => hangUp.abort(), 10);
    await expect(reading).rejects.toMatchObject({ code: 'client_gone' });
  });

  test('a_reason_of_the_caller_is_told_as_it_is', async () => {
    const { read, hangUp } = rig(['nothing']);
    hangUp.abort(new PagefleetError('page_deadline', 'too late'));
    await expect(read()).rejects.toMatchObject({ code: 'page_deadline' });
  });
});

test('a_reply_is_asked_for_no_longer_than_the_model_takes', async () => {
  const { read, asked } = rig([{ text: html('x') }], { maxModelLen: 4_000 });
  await read();
  expect(asked[0]?.max_tokens).toBeLessThan(4_000 - 800);
});
