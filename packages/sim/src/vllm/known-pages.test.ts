import { createHash } from 'node:crypto';
import sharp, { type Sharp } from 'sharp';
import { expect, test } from 'vitest';
import { describePage, type KnownPage, recognise } from './known-pages.ts';
import { hashPicture } from './picture-hash.ts';

const SIZE = { width: 850, height: 1_100 };
/** Fields of random grey, as many as the hash looks at. */
const PAGE = await sharp(
  createHash('shake256', { outputLength: 17 * 16 })
    .update('page')
    .digest(),
  {
    raw: { width: 17, height: 16, channels: 1 },
  },
)
  .resize(SIZE.width, SIZE.height, { fit: 'fill', kernel: 'nearest' })
  .png()
  .toBuffer();
const KNOWN = await describePage({
  name: 'page',
  picture: PAGE,
  text: 'words',
  minPixels: 300_000,
  maxPixels: 1_000_000,
});

async function look(picture: Sharp, known: KnownPage = KNOWN) {
  return recognise(await hashPicture(await picture.png().toBuffer()), [known]);
}

test('a_page_drawn_as_it_has_to_be_is_known_upright_or_turned', async () => {
  expect(await look(sharp(PAGE))).toEqual({ page: KNOWN, correction: 0 });
  expect(await look(sharp(PAGE).resize(600))).toMatchObject({ correction: 0 });
  for (const turn of [90, 180, 270])
    expect(await look(sharp(PAGE).rotate(turn))).toMatchObject({ correction: 360 - turn });
});

test.each([
  ['cut_at_its_corner', sharp(PAGE).extract({ left: 0, top: 0, width: 800, height: 1_035 })],
  ['cut_at_its_foot', sharp(PAGE).extract({ left: 0, top: 0, width: 850, height: 1_078 })],
  ['squeezed', sharp(PAGE).resize(850, 1_000, { fit: 'fill' })],
  ['with_a_margin', sharp(PAGE).extend({ top: 60, left: 60, bottom: 60, right: 60, background: 'white' })],
  ['drawn_too_small', sharp(PAGE).resize(400)],
  ['drawn_too_large', sharp(PAGE).resize(1_000)],
])('a_page_that_was_%s_is_not_known (R-070)', async (_what, picture) => {
  expect(await look(picture)).toBeNull();
});

test('a_page_of_another_longest_side_than_the_engines_is_not_known', async () => {
  const { minPixels: _min, maxPixels: _max, ...page } = KNOWN;
  expect(await look(sharp(PAGE), { ...page, longestSide: 1_100 })).not.toBeNull();
  expect(await look(sharp(PAGE), { ...page, longestSide: 1_288 })).toBeNull();
});
