import type { PageToRead } from '../vlm/drawing.ts';

const WORDS = ['pagefleet', 'This page shows that the engine reads.'];

/**
 * A small PDF page with two lines of text, on which a server shows before any other that it can infer: `/health` and
 * `/v1/models` answer just as well when it cannot (contract 2.3).
 */
export function trialPage(signal: AbortSignal): PageToRead {
  const lines = WORDS.map((words) => `(${words}) Tj 0 -28 Td`).join(' ');
  const content = `BT /F1 18 Tf 36 100 Td ${lines} ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 420 144] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let file = '%PDF-1.7\n';
  const offsets = objects.map((object, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}`;
  const trailer = `trailer << /Size ${size} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
  const bytes = Buffer.from(`${file}${table}${trailer}`, 'latin1');
  return { kind: 'pdf', signal, load: async () => bytes };
}
