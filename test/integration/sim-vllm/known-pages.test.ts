import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describePage, type KnownPage } from '@pagefleet/sim/vllm';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { corpusMissing, corpusPath } from '../../corpus.ts';
import { startVllm, type VllmProcess } from './vllm-process.ts';

/** Upright, and no other's turned copy. */
const isOwnPage = (name: string): boolean => /\.(png|jpg)$/.test(name) && !/rotated|sideways/.test(name);

let folder = '';
let names: string[] = [];
let pages: KnownPage[] = [];
let vllm: VllmProcess;

beforeAll(async () => {
  if (corpusMissing !== null) return;
  folder = mkdtempSync(join(tmpdir(), 'known-pages-'));
  names = readdirSync(corpusPath('pages')).filter(isOwnPage);
  for (const name of names)
    pages.push(
      await describePage({ name, picture: readPage(name), text: `The true text of ${name}.\n\nA <b> & c.` }),
    );
  const file = join(folder, 'pages.json');
  writeFileSync(file, JSON.stringify(pages));
  const args = ['--served-model-name', 'surya', '--max-model-len', '40000'];
  vllm = await startVllm({ script: { pages: file }, args });
});

afterAll(async () => {
  await vllm?.close();
  if (folder !== '') rmSync(folder, { recursive: true, force: true });
  pages = [];
});

test.skipIf(corpusMissing !== null)(
  'a known page is answered with its own text at two sizes, in two formats; the unknown ones are not taken for known',
  async () => {
    expect(names.length).toBeGreaterThan(5);
    for (const name of names)
      for (const [side, format] of [
        [1_288, 'png'],
        [900, 'jpeg'],
      ] as const) {
        const picture = await sharp(readPage(name))
          .resize(side, side, { fit: 'inside' })
          .toFormat(format)
          .toBuffer();
        const text = await read(picture);
        expect(text).toContain(`<p>The true text of ${name}.</p>`);
        expect(text).toContain('A &lt;b&gt; &amp; c.');
        expect(text).toMatch(/^<div data-label="Text" data-bbox="\d+ \d+ \d+ \d+">/);
      }
    const unknown = await read(
      await sharp(readPage(names[0] ?? ''))
        .flop()
        .png()
        .toBuffer(),
    );
    expect(unknown).toContain('simulated reply to a picture');
  },
);

test.skipIf(corpusMissing !== null)(
  'a known page that lies on its side is told to be turned by olmOCR and not read by the others (R-070)',
  async () => {
    for (const turn of [90, 180, 270]) {
      const turned = await sharp(readPage('eurotext.png')).rotate(turn).png().toBuffer();
      expect(await read(turned)).toContain('simulated reply to a picture');
    }
    const own = await startVllm({
      script: { pages: join(folder, 'pages.json') },
      args: ['--served-model-name', 'olmocr'],
      model: 'allenai/olmOCR-2-7B',
    });
    try {
      for (const turn of [90, 180, 270]) {
        const turned = await sharp(readPage('eurotext.png')).rotate(turn).png().toBuffer();
        const text = await read(turned, own, 'olmocr');
        expect(text).toContain('is_rotation_valid: False');
        expect(text).toContain(`rotation_correction: ${360 - turn}`);
      }
      const upright = await read(readPage('eurotext.png'), own, 'olmocr');
      expect(upright).toMatch(
        /^---\nprimary_language: en\nis_rotation_valid: True\n[\s\S]*\n---\nThe true text of/,
      );
    } finally {
      await own.close();
    }
  },
);

async function read(picture: Uint8Array, from: VllmProcess = vllm, model = 'surya'): Promise<string> {
  const url = `data:image/png;base64,${Buffer.from(picture).toString('base64')}`;
  const content = [
    { type: 'image_url', image_url: { url } },
    { type: 'text', text: 'Read it.' },
  ];
  const answer = await from.post('/v1/chat/completions', { model, messages: [{ role: 'user', content }] });
  expect(answer.status).toBe(200);
  const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] };
  return choices[0]?.message.content ?? '';
}

function readPage(name: string): Buffer {
  return readFileSync(corpusPath('pages', name));
}
