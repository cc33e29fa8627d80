import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describePage, type Script } from '@pagefleet/sim/vllm';
import sharp from 'sharp';

/** Size of one event that all the buffers of the kernel on its way cannot take. */
export const BIG_MB = 80;
export const GREETING = 'Grüße aus Žižkov, 東京';
export const CALLS = [
  { name: 'weather', arguments: { place: 'Brno – žižkov' } },
  { name: 'time', arguments: { place: 'Oslo' } },
];
export const TRUTH = 'Forty-two barrels of salted herring, received at Tønsberg.';

/** What the simulated servers say, at three speeds. */
export interface ChatScripts {
  readonly fast: Script;
  /** 10 tokens a second: a reply is caught in the middle */
  readonly slow: Script;
  /** nothing ends before it is made faster */
  readonly held: Script;
  /** every reply is two words and then an event of `BIG_MB` */
  readonly big: Script;
}

/** Writes the page that they know, with its text `TRUTH`, into the folder. */
export async function chatScripts(folder: string): Promise<ChatScripts> {
  const pages = join(folder, 'pages.json');
  const known = await describePage({ name: 'herring', picture: await knownPage(), text: TRUTH });
  writeFileSync(pages, JSON.stringify([known]));
  const fast: Script = {
    ...{ repeatable: true, cuts: 0.5, seed: 7, pages },
    rules: [
      { when: { textContains: 'call both' }, reply: { interleave: true, toolCalls: CALLS } },
      { when: { textContains: 'greet' }, reply: { text: GREETING } },
      { when: { textContains: 'at length' }, reply: { text: 'word '.repeat(2_000) } },
    ],
  };
  return {
    fast,
    slow: { ...fast, tokensPerS: 10, loadedTokensPerS: 10_000 },
    big: {
      ...fast,
      rules: [
        {
          reply: {
            text: 'one two',
            error: { status: 500, message: 'x'.repeat(BIG_MB * 1e6), afterTokens: 1 },
          },
        },
      ],
    },
    held: { ...fast, tokensPerS: 0.02, loadedTokensPerS: 0.02 },
  };
}

/** A picture unlike any other, and unlike itself when it is turned. */
export function knownPage(): Promise<Buffer> {
  const marks = Array.from({ length: 40 }, (_, n) => {
    const [x, y, w] = [(n * 97) % 520, (n * 53) % 760, 20 + ((n * 31) % 180)];
    return `<rect x="${x}" y="${y}" width="${w}" height="${12 + (n % 5) * 9}"/>`;
  });
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="800">${marks.join('')}</svg>`;
  return sharp(Buffer.from(drawing)).flatten({ background: 'white' }).png().toBuffer();
}
