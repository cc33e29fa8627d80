import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import type { Picture } from '../document/draw-picture.ts';
import type { Reading } from './parse-tsv.ts';
import { readUpright } from './read-upright.ts';
import type { Recogniser, Rotation } from './recogniser.ts';

const SIGNAL = new AbortController().signal;

/** 30 by 20 with a black corner at the top left, so that each turn can be told from the pixels. */
async function picture(): Promise<Picture> {
  const raw = Buffer.alloc(30 * 20, 255);
  raw[0] = 0;
  const png = await sharp(raw, { raw: { width: 30, height: 20, channels: 1 } })
    .png()
    .toBuffer();
  return { png, width: 30, height: 20, dpi: 200 };
}

const words = (count: number, confidence: number, shape: 'wide' | 'tall' = 'wide'): Reading => {
  const box = shape === 'wide' ? { x0: 0, y0: 0, x1: 40, y1: 10 } : { x0: 0, y0: 0, x1: 10, y1: 40 };
  const line = Array.from({ length: count }, () => ({ text: 'word', confidence, box }));
  return { blocks: count === 0 ? [] : [{ paragraphs: [{ lines: [line] }] }] };
};

async function rotationOf({ png }: Picture): Promise<Rotation> {
  const { data, info } = await sharp(png).toColourspace('b-w').raw().toBuffer({ resolveWithObject: true });
  const isBlack = (x: number, y: number) => (data[y * info.width + x] ?? 255) < 128;
  if (isBlack(0, 0)) return 0;
  if (isBlack(info.width - 1, 0)) return 90;
  return isBlack(info.width - 1, info.height - 1) ? 180 : 270;
}

/** A recogniser that reads each way up as it is told to, and notes what it was asked for. */
function recogniser(readings: Partial<Record<Rotation, Reading>>, detected: Rotation | null) {
  const asked: (Rotation | 'orientation')[] = [];
  const double: Recogniser = {
    name: 'double',
    version: () => '1',
    open: async () => undefined,
    close: async () => undefined,
    languages: () => ['eng'],
    async recognise(shown) {
      const rotation = await rotationOf(shown);
      asked.push(rotation);
      return readings[rotation] ?? words(20, 35);
    },
    async detectRotation() {
      asked.push('orientation');
      return detected;
    },
  };
  return { double, asked };
}

async function read(readings: Partial<Record<Rotation, Reading>>, detected: Rotation | null) {
  const { double, asked } = recogniser(readings, detected);
  const { rotation, width, height, reading } = await readUpright(double, await picture(), ['eng'], SIGNAL);
  return { rotation, size: [width, height], reading, asked };
}

describe('the orientation pass (contract 4.4)', () => {
  test('a_page_that_reads_well_is_read_once', async () => {
    expect(await read({ 0: words(50, 92) }, 180)).toMatchObject({ rotation: 0, asked: [0] });
  });

  test('a_blank_page_is_not_turned', async () => {
    expect(await read({ 0: words(0, 0) }, 180)).toMatchObject({ rotation: 0, asked: [0] });
  });

  test.each([90, 180, 270] as const)(
    'a_page_that_must_be_turned_by_%i_is_read_again_that_way',
    async (rotation) => {
      const seen = await read({ [rotation]: words(50, 92) }, rotation);
      expect(seen).toMatchObject({ rotation, asked: [0, 'orientation', rotation] });
      expect(seen.size).toEqual(rotation === 180 ? [30, 20] : [20, 30]);
    },
  );

  test('a_page_that_was_right_stays_when_turning_reads_no_better', async () => {
    expect(await read({ 0: words(50, 60), 180: words(50, 40) }, 180)).toMatchObject({ rotation: 0 });
  });

  test('a_poor_but_upright_page_is_not_read_twice', async () => {
    expect(await read({ 0: words(50, 50) }, 0)).toMatchObject({ rotation: 0, asked: [0, 'orientation'] });
  });

  test('text_read_well_but_sideways_is_turned_for_its_boxes', async () => {
    const sideways = { 0: words(50, 94, 'tall'), 90: words(50, 93) };
    expect(await read(sideways, 90)).toMatchObject({ rotation: 90, asked: [0, 'orientation', 90] });
  });

  test('too_little_text_to_detect_is_tried_every_way_up', async () => {
    const few = { 0: words(5, 30), 270: words(5, 95) };
    expect(await read(few, null)).toMatchObject({ rotation: 270, asked: [0, 'orientation', 180, 90, 270] });
  });

  test('much_text_without_a_detected_orientation_is_left_as_it_is', async () => {
    expect(await read({ 0: words(200, 30) }, null)).toMatchObject({ rotation: 0, asked: [0, 'orientation'] });
  });
});
