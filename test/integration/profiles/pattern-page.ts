import { createHash } from 'node:crypto';
import sharp, { type Sharp } from 'sharp';

/** How a page is handed in. */
export type PageForm = 'pdf' | 'large_pdf' | 'turned_pdf' | 'small_png' | 'coloured_jpeg';

/** The fields that the simulated server's hash looks at: a page of them is told from any other, however it is drawn. */
const COLUMNS = 17;
const ROWS = 16;
/** Points: a letter, and a sheet that no engine takes at its density. */
const LETTER = { width: 612, height: 792 };
const LARGE = { width: 1_191, height: 1_684 };

/** Greys of 0 to 255 by rows, other ones for each name. */
function patternOf(name: string): readonly (readonly number[])[] {
  const bytes = Array.from({ length: ROWS }, (_, row) =>
    createHash('sha256').update(`${name}.${row}`).digest(),
  );
  return bytes.map((row) => [...row.subarray(0, COLUMNS)]);
}

/** A page with the pattern of its name, and the upright picture by which it is known. */
export async function makePatternPage(
  name: string,
  form: PageForm,
): Promise<{ readonly page: Buffer; readonly upright: Buffer }> {
  const size = form === 'large_pdf' ? LARGE : LETTER;
  const colours = form === 'coloured_jpeg';
  const upright = await draw(patternOf(name), colours)
    .resize(size.width, size.height, NEAREST)
    .png()
    .toBuffer();
  switch (form) {
    case 'small_png':
      return { page: upright, upright };
    case 'coloured_jpeg':
      return { page: await sharp(upright).jpeg({ quality: 95 }).toBuffer(), upright };
    case 'turned_pdf':
      return { page: makePdf(patternOf(name), size, 90), upright };
    default:
      return { page: makePdf(patternOf(name), size, 0), upright };
  }
}

const NEAREST = { fit: 'fill', kernel: 'nearest' } as const;

function draw(pattern: readonly (readonly number[])[], colours: boolean): Sharp {
  const raw = Buffer.from(pattern.flat().flatMap((grey) => [grey, grey, colours ? 255 - grey : grey]));
  return sharp(raw, { raw: { width: COLUMNS, height: ROWS, channels: 3 } });
}

/** `turn`: clockwise, of what a reader sees. */
function makePdf(
  pattern: readonly (readonly number[])[],
  { width, height }: { readonly width: number; readonly height: number },
  turn: 0 | 90,
): Buffer {
  const [cellWidth, cellHeight] = [width / COLUMNS, height / ROWS];
  const content = pattern
    .flatMap((row, y) =>
      row.map((grey, x) => {
        const corner = `${(x * cellWidth).toFixed(3)} ${(height - (y + 1) * cellHeight).toFixed(3)}`;
        return `${(grey / 255).toFixed(4)} g ${corner} ${cellWidth.toFixed(3)} ${cellHeight.toFixed(3)} re f`;
      }),
    )
    .join('\n');
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${width} ${height}]/Rotate ${turn}/Resources<<>>/Contents 4 0 R>>`,
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
  ];
  let text = '%PDF-1.4\n';
  const rows = objects.map((object, at) => {
    const row = `${String(text.length).padStart(10, '0')} 00000 n \n`;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return row;
  });
  const xref = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows.join('')}`;
  text += `trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${xref}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}
