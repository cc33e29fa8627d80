export interface PdfOptions {
  readonly pages: number;
  /** 0-based pages whose object is missing */
  readonly broken?: readonly number[];
  /** what `/Count` claims, if not the truth */
  readonly claimed?: number;
  /** bytes of each page's content beside its text */
  readonly padding?: number;
}

/** A small valid PDF; its pages differ by the number they show. */
export function makePdf({ pages, broken = [], claimed = pages, padding = 0 }: PdfOptions): Buffer {
  const objects: (string | null)[] = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Count ${claimed}/Kids[${Array.from({ length: pages }, (_, i) => `${4 + 2 * i} 0 R`).join(' ')}]>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ];
  for (let page = 0; page < pages; page += 1) {
    const content = `BT /F1 24 Tf 72 700 Td (Page ${page}) Tj ET ${'% padding\n'.repeat(padding / 10)}`;
    const box = '/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>';
    objects.push(
      broken.includes(page) ? null : `<</Type/Page/Parent 2 0 R${box}/Contents ${5 + 2 * page} 0 R>>`,
      `<</Length ${content.length}>>stream\n${content}\nendstream`,
    );
  }
  return assemble(objects);
}

function assemble(objects: readonly (string | null)[]): Buffer {
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, i) => {
    const at = text.length;
    if (object !== null) text += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return object === null ? null : at;
  });
  const xref = text.length;
  const rows = offsets.map((at) =>
    at === null ? '0000000000 65535 f \n' : `${String(at).padStart(10, '0')} 00000 n \n`,
  );
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows.join('')}`;
  text += `trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${xref}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}
