import { extraObjectNumber, makePdf } from '../document/make-pdf.ts';
import type { PageToRead } from '../vlm/drawing.ts';

const WORDS = ['pagefleet', 'This page shows that the engine reads.'];
const FONT = `${extraObjectNumber(1, 0)} 0 R`;

/**
 * A small PDF page with two lines of text, on which a server shows before any other that it can infer: `/health` and
 * `/v1/models` answer just as well when it cannot (contract 2.3).
 */
export function trialPage(signal: AbortSignal): PageToRead {
  const lines = WORDS.map((words) => `(${words}) Tj 0 -28 Td`).join(' ');
  const bytes = makePdf({
    pages: 1,
    page: `/MediaBox [0 0 420 144] /Resources << /Font << /F1 ${FONT} >> >>`,
    content: `BT /F1 18 Tf 36 100 Td ${lines} ET`,
    extra: ['<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'],
  });
  return { kind: 'pdf', signal, load: async () => bytes };
}
