import { describe, expect, test } from 'vitest';
import { createLoopWatch } from '../../packages/engines/src/vlm/loop-watch.ts';
import { createPrng } from '../../packages/sim/src/hand-over/prng.ts';
import { CLEAN_KINDS, cleanReply } from './clean-replies.ts';

/** As the configuration has them. */
const THRESHOLDS = { firstLook: 2_000, step: 500, hits: 2 };
const REPLIES = 2_000;
const LONGEST_PIECE = 400;

/** How much of a reply has come when it is abandoned, in random pieces; null: never. */
function abandonedAt(reply: string, chance: () => number): number | null {
  const watch = createLoopWatch(THRESHOLDS);
  for (let at = 0; at < reply.length; ) {
    const end = at + 1 + Math.floor(chance() * LONGEST_PIECE);
    if (watch.add(reply.slice(at, end))) return Math.min(end, reply.length);
    at = end;
  }
  return null;
}

describe('the loop detector over many pages (R-071)', () => {
  test(`cuts_none_of_${REPLIES}_clean_replies`, () => {
    const chance = createPrng(71).next;
    const cut: string[] = [];
    const counts = new Map<string, number>();
    let characters = 0;
    for (let n = 0; n < REPLIES; n += 1) {
      const { kind, text } = cleanReply(CLEAN_KINDS[n % CLEAN_KINDS.length] ?? '', chance);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      characters += text.length;
      const at = abandonedAt(text, chance);
      if (at !== null) cut.push(`${kind} at ${at} of ${text.length}: …${text.slice(at - 80, at)}`);
    }
    const kinds = [...counts].map(([kind, count]) => `${kind} ${count}`).join(', ');
    process.stdout.write(
      `clean replies: ${REPLIES}, ${characters} characters (${kinds}); cut: ${cut.length}\n`,
    );
    expect(cut).toEqual([]);
  });

  test('leaves_every_loop_soon_after_it_began_whatever_its_period', () => {
    const chance = createPrng(72).next;
    const late: string[] = [];
    let most = 0;
    for (let n = 0; n < 500; n += 1) {
      const clean = cleanReply('prose', chance).text;
      const began = Math.floor(chance() * clean.length);
      const period = 1 + Math.floor(chance() * 250);
      const piece = clean.slice(0, period);
      const loop = piece.repeat(Math.ceil(12_000 / period));
      const at = abandonedAt(clean.slice(0, began) + loop, chance);
      const after = (at ?? Number.POSITIVE_INFINITY) - Math.max(began, THRESHOLDS.firstLook);
      most = Math.max(most, after);
      // Five of the longest piece, two looks and one piece of the stream.
      if (after > 5 * 250 + 50 + 2 * THRESHOLDS.step + LONGEST_PIECE) late.push(`period ${period}: ${after}`);
    }
    process.stdout.write(`loops: 500, left at most ${most} characters after they began\n`);
    expect(late).toEqual([]);
  });
});
