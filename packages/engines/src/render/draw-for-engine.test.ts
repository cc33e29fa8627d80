import { ENGINE_PROFILES } from '@pagefleet/contract';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { extraObjectNumber, makePdf } from '../document/make-pdf.ts';
import type { PageKind } from '../port.ts';
import { drawForEngine } from './draw-for-engine.ts';

const LIMITS = { profile: ENGINE_PROFILES.surya.picture, dpi: 72, maxPixels: 40_000_000 };

interface Look {
  /** of pixels from the left and from the top, red, green and blue; of a grey file its one channel three times */
  at(x: number, y: number): [number, number, number];
  readonly channels: number;
  readonly mime: string;
  readonly width: number;
  readonly height: number;
}

async function look(
  bytes: Uint8Array,
  kind: PageKind = 'pdf',
  limits: Partial<typeof LIMITS> = {},
): Promise<Look> {
  const drawn = await drawForEngine({ bytes, kind, rotation: 0, limits: { ...LIMITS, ...limits } });
  const bytesSent = Buffer.from(Buffer.from(drawn.base64).toString(), 'base64');
  const { channels } = await sharp(bytesSent).metadata();
  const { data, info } = await sharp(bytesSent)
    .toColourspace('srgb')
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  expect([info.width, info.height]).toEqual([drawn.width, drawn.height]);
  const { mime, width, height } = drawn;
  return {
    ...{ mime, width, height, channels: channels ?? 0 },
    at: (x, y) => [...data.subarray((y * info.width + x) * 3, (y * info.width + x) * 3 + 3)] as never,
  };
}

interface ScanParts {
  /** entries of the picture beside its size */
  readonly image: string;
  readonly data: string;
  readonly before?: string;
  readonly after?: string;
  readonly page?: string;
  readonly extra?: readonly string[];
}

/** A page of 200 by 100 points that one picture of 2 by 1 pixels fills. */
function scan({ image, data, before = '', after = '', page = '', extra = [] }: ScanParts): Buffer {
  const number = extraObjectNumber(1, 0);
  const font = '/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>';
  return makePdf({
    pages: 1,
    page: `/MediaBox [0 0 200 100] /Resources << ${font} /XObject << /I ${number} 0 R >> >> ${page}`,
    content: `${before} q 200 0 0 100 0 0 cm /I Do Q ${after}`,
    extra: [
      `<< /Type /XObject /Subtype /Image /Width 2 /Height 1 ${image} /Length ${data.length} >>\nstream\n${data}\nendstream`,
      ...extra,
    ],
  });
}

const GREY = { image: '/ColorSpace /DeviceGray /BitsPerComponent 8', data: '\u0040\u00c0' };
/** One bit: black, then white. */
const FAX = { image: '/ColorSpace /DeviceGray /BitsPerComponent 1', data: '\u0040' };
const RED_RECTANGLE = 'q 1 0 0 rg 0 0 50 50 re f Q';
const stampOf = (paint: string) => ({
  page: `/Annots [${extraObjectNumber(1, 1)} 0 R]`,
  extra: [
    `<< /Type /Annot /Subtype /Stamp /Rect [0 0 50 50] /F 4 /AP << /N ${extraObjectNumber(1, 2)} 0 R >> >>`,
    `<< /Type /XObject /Subtype /Form /BBox [0 0 50 50] /Length ${paint.length} >>\nstream\n${paint}\nendstream`,
  ],
});
const isRed = ([red, green, blue]: [number, number, number]): boolean => red > 200 && green < 80 && blue < 80;

describe('a scan without colour is drawn in grey, and looks as it does in colour', () => {
  test.each([
    ['a_grey_scan', GREY, [0x40, 0xc0]],
    ['a_fax', FAX, [0, 255]],
    [
      'a_scan_with_hidden_text',
      { ...GREY, after: 'BT 3 Tr /F 12 Tf 1 0 0 rg (seen by nobody) Tj ET' },
      [0x40, 0xc0],
    ],
  ] as const)('%s', async (_, parts, [left, right]) => {
    const seen = await look(scan(parts));
    expect(seen).toMatchObject({ channels: 1, mime: 'image/png', width: 200, height: 100 });
    expect(seen.at(10, 50)).toEqual([left, left, left]);
    expect(seen.at(190, 50)).toEqual([right, right, right]);
  });
});

describe('whatever may have a colour keeps it (contract 3)', () => {
  test.each([
    [
      'a_coloured_scan',
      { image: '/ColorSpace /DeviceRGB /BitsPerComponent 8', data: '\u00ff\u0000\u0000\u0040\u0040\u0040' },
    ],
    [
      'a_palette',
      {
        image: '/ColorSpace [/Indexed /DeviceRGB 1 <ff0000404040>] /BitsPerComponent 8',
        data: '\u0000\u0001',
      },
    ],
    ['a_stencil', { image: '/ImageMask true /BitsPerComponent 1', data: '\u0040', before: '1 0 0 rg' }],
    ['a_rectangle_on_a_grey_scan', { ...GREY, after: RED_RECTANGLE }],
    ['text_on_a_grey_scan', { ...GREY, after: 'BT 1 0 0 rg /F 200 Tf 1 0 0 1 -20 0 Tm (M) Tj ET' }],
    ['a_stamp_on_a_grey_scan', { ...GREY, ...stampOf('1 0 0 rg 0 0 50 50 re f ') }],
  ] as const)('%s', async (_, parts) => {
    const seen = await look(scan(parts));
    expect(seen.channels).toBe(3);
    expect([seen.at(4, 96), seen.at(10, 50), seen.at(20, 60)].some(isRed)).toBe(true);
  });

  test('a_form_field_shows_its_value_in_its_colour', async () => {
    const field = extraObjectNumber(1, 0);
    const bytes = makePdf({
      pages: 1,
      page: `/MediaBox [0 0 200 100] /Annots [${field} 0 R]`,
      catalog: `/AcroForm << /Fields [${field} 0 R] /DA (/Helv 90 Tf 1 0 0 rg) /NeedAppearances true >>`,
      extra: [
        '<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /V (MMM) /DA (/Helv 90 Tf 1 0 0 rg) /Rect [0 0 200 100] /F 4 >>',
      ],
    });
    const seen = await look(bytes);
    const row = Array.from({ length: 200 }, (_, x) => seen.at(x, 60));
    expect(row.some(isRed)).toBe(true);
  });
});

describe('pictures', () => {
  const grey = { create: { width: 40, height: 30, channels: 3, background: '#555555' } } as const;
  test.each([
    ['8_bit_grey_png', () => sharp(grey).toColourspace('b-w').png().toBuffer()],
    ['16_bit_grey_png', () => sharp(grey).toColourspace('grey16').png().toBuffer()],
    ['grey_jpeg', () => sharp(grey).toColourspace('b-w').jpeg({ quality: 100 }).toBuffer()],
    ['grey_stored_as_colours', () => sharp(grey).png().toBuffer()],
  ])('%s_is_sent_as_a_grey_png', async (_, make) => {
    const seen = await look(await make(), 'png');
    expect(seen).toMatchObject({ channels: 1, mime: 'image/png' });
    expect(Math.abs(seen.at(5, 5)[0] - 0x55)).toBeLessThanOrEqual(1);
  });

  test('a_coloured_one_is_sent_as_a_jpeg', async () => {
    const red = sharp({ create: { width: 40, height: 30, channels: 3, background: '#ee1111' } });
    const seen = await look(await red.png().toBuffer(), 'png');
    expect(seen).toMatchObject({ channels: 3, mime: 'image/jpeg' });
    expect(isRed(seen.at(20, 15))).toBe(true);
  });
});

describe('a huge page is scaled to what the engine takes', () => {
  test.each([
    ['a_poster', '/MediaBox [0 0 14400 10000]', 'surya'],
    ['a_banner', '/MediaBox [0 0 14400 200]', 'chandra'],
    ['a_user_unit_of_100', '/MediaBox [0 0 14400 14400] /UserUnit 100', 'olmocr'],
  ] as const)('%s', async (_, page, engine) => {
    const { picture } = ENGINE_PROFILES[engine];
    const bytes = makePdf({ pages: 1, page, content: '0 g 0 0 7200 14400 re f' });
    const seen = await look(bytes, 'pdf', { profile: picture, dpi: 0 });
    expect(seen.width * seen.height).toBeLessThanOrEqual(picture.maxArea ?? LIMITS.maxPixels);
    expect(Math.max(seen.width, seen.height)).toBeLessThanOrEqual(picture.longestSide ?? 10_000);
    expect(seen.at(Math.floor(seen.width / 4), seen.height - 5)).toEqual([0, 0, 0]);
    expect(seen.at(Math.floor((seen.width * 3) / 4), 5)).toEqual([255, 255, 255]);
  });
});
