import {
  createVlmReader,
  type Drawing,
  type ModelServer,
  type ReadingEvents,
  type ReadingSettings,
} from '@pagefleet/engines';
import sharp from 'sharp';
import { Agent, request } from 'undici';
import { afterAll, expect, test } from 'vitest';
import { startVllm, type VllmProcess } from '../integration/sim-vllm/vllm-process.ts';

const PAGES = 400;
const WIDTH = 32;
const PROMPT = 'read this page';
const PAGE = Array.from(
  { length: 60 },
  (_, n) => `Line ${n} of the page tells that ${n * n} is ${n} times ${n}.`,
);
const CLEAN = `<div data-label="Text" data-bbox="0 0 1000 1000">${PAGE.map((line) => `<p>${line}</p>`).join('')}</div>`;
const SETTINGS: ReadingSettings = {
  ...{ profile: 'surya', prompt: PROMPT, maxTokens: 0, maxModelLen: 0, continuations: 0, retries: -1 },
  ...{ timeoutMs: 120_000, accentRepair: true, tokenTrace: false, loop: null },
};

const agent = new Agent({ connections: WIDTH, headersTimeout: 0, bodyTimeout: 0 });
let vllm: VllmProcess | undefined;
afterAll(async () => {
  await vllm?.close();
  await agent.destroy();
});

/** The simulated card; 4 % of the requests loop until their budget ends, which a card takes as long for as for six pages. */
async function startCard(): Promise<VllmProcess> {
  const looping = { text: CLEAN.slice(0, 1_500), loop: 'and so on and on it went, ' };
  const started = await startVllm({
    model: 'datalab-to/surya-ocr-2',
    args: ['--max-num-seqs', String(WIDTH), '--max-model-len', '18000'],
    script: {
      ...{ tokensPerS: 2_500, loadedTokensPerS: 60_000, seed: 4 },
      rules: [{ when: { share: 0.04 }, reply: looping }, { reply: { text: CLEAN } }],
    },
  });
  return started;
}

const serverAt = (origin: string): ModelServer => ({
  connection: agent,
  async post({ encode, signal }) {
    const body = Buffer.from(await encode());
    const headers = { 'content-type': 'application/json' };
    const options = { method: 'POST', headers, body, signal, dispatcher: agent } as const;
    const answer = await request(`${origin}/v1/chat/completions`, options);
    const contentType = String(answer.headers['content-type'] ?? '');
    return { status: answer.statusCode, contentType, body: answer.body };
  },
});

/** Every page is a picture of its own; how pages are drawn is another test’s. */
const drawing: Drawing = {
  async draw({ load }) {
    return {
      base64: Buffer.from(Buffer.from(await load()).toString('base64')),
      mime: 'image/png',
      width: 100,
      height: 100,
      dpi: 192,
    };
  },
};

async function pictureOf(n: number): Promise<Uint8Array> {
  const background = { r: n % 256, g: Math.floor(n / 256), b: 0 };
  return await sharp({ create: { width: 100, height: 100, channels: 3, background } })
    .png()
    .toBuffer();
}

async function readAll(loop: ReadingSettings['loop']) {
  vllm = await startCard();
  const rejected = new Map<string, number>();
  const reader = createVlmReader({ ...SETTINGS, loop }, drawing);
  const events: ReadingEvents = {
    asked: () => undefined,
    rejected: (why) => void rejected.set(why, (rejected.get(why) ?? 0) + 1),
  };
  const server = serverAt(vllm.url);
  const { signal } = new AbortController();
  const texts: string[] = [];
  let next = 0;
  const startedMs = performance.now();
  const lane = async (): Promise<void> => {
    while (next < PAGES) {
      const n = next;
      next += 1;
      const page = { load: () => pictureOf(n), kind: 'png', signal } as const;
      texts[n] = (await reader.read(page, server, events)).text;
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, lane));
  const seconds = (performance.now() - startedMs) / 1_000;
  const { generatedTokens = 0, running } = await vllm.stats();
  await vllm.close();
  return { texts, seconds, generatedTokens, running, rejected: Object.fromEntries(rejected) };
}

test('of_400_pages_4_percent_loop_and_leaving_them_early_saves_what_they_cost (R-071)', async () => {
  const without = await readAll(null);
  const early = await readAll({ firstLook: 2_000, step: 500, hits: 2 });
  const saved = 1 - early.generatedTokens / without.generatedTokens;
  const told = [without, early].map(
    ({ seconds, generatedTokens, rejected }) =>
      `${generatedTokens} tokens in ${seconds.toFixed(1)} s, ${JSON.stringify(rejected)}`,
  );
  process.stdout.write(
    `campaign, loops left at their budget: ${told[0]}\ncampaign, loops left early: ${told[1]}\nsaved: ${(100 * saved).toFixed(1)} % of the tokens, ${(100 * (1 - early.seconds / without.seconds)).toFixed(1)} % of the time\n`,
  );
  for (const { texts, running } of [without, early]) {
    expect(texts.filter((text) => text !== PAGE.join('\n'))).toEqual([]);
    expect(running).toBe(0);
  }
  expect(Object.keys(without.rejected)).toEqual(['loop']);
  expect(Object.keys(early.rejected)).toEqual(['looped']);
  // The same requests loop in both: a page is a request, and so is its second try.
  expect(early.rejected.looped).toBe(without.rejected.loop);
  expect(saved).toBeGreaterThan(0.15);
}, 120_000);
