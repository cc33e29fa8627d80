/** Small PDFs, written object by object: a page on trial, and for tests one of which exactly one thing is odd. */
export interface PdfParts {
  readonly pages: number;
  /** what the page tree claims; the truth when left out */
  readonly count?: number;
  readonly kids?: string;
  /** entries of every page, MediaBox included */
  readonly page?: string;
  /** uncompressed content stream of every page */
  readonly content?: string;
  /** further objects, numbered from `extraObjectNumber` on */
  readonly extra?: readonly string[];
  readonly catalog?: string;
}

const FIRST_PAGE_OBJECT = 3;

export function pageObjectNumber(index: number): number {
  return FIRST_PAGE_OBJECT + 2 * index;
}

export function extraObjectNumber(pages: number, index: number): number {
  return pageObjectNumber(pages) + index;
}

export function makePdf(parts: PdfParts): Buffer {
  const numbers = Array.from({ length: parts.pages }, (_, index) => pageObjectNumber(index));
  const kids = parts.kids ?? numbers.map((number) => `${number} 0 R`).join(' ');
  const content = parts.content ?? '';
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R ${parts.catalog ?? ''} >>`,
    `<< /Type /Pages /Kids [${kids}] /Count ${parts.count ?? parts.pages} >>`,
    ...numbers.flatMap((number) => [
      `<< /Type /Page /Parent 2 0 R /Contents ${number + 1} 0 R ${parts.page ?? '/MediaBox [0 0 200 100]'} >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ]),
    ...(parts.extra ?? []),
  ];
  let body = '%PDF-1.7\n';
  const offsets: number[] = [];
  for (const [index, object] of objects.entries()) {
    offsets.push(body.length);
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const trailer = `trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`;
  return Buffer.from(
    `${body}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}${trailer}`,
    'latin1',
  );
}

/** A filled rectangle in the lower left quarter of the default page. */
export const BLACK_QUARTER = '0 g 0 0 100 50 re f';
