import type { OcrPage } from '@pagefleet/contract';

export const OCR_FORMATS = ['text', 'markdown', 'json', 'ndjson'] as const;
export type OcrFormat = (typeof OCR_FORMATS)[number];

export const FILE_EXTENSIONS = { text: 'txt', markdown: 'md', json: 'json', ndjson: 'ndjson' } as const;

/** Pages of one document as text that can be written piece by piece. */
export interface PageFormatter {
  page(page: OcrPage): string;
  end(): string;
}

/** Text pages are parted by a form feed, as pdftotext and tesseract do. */
export function createFormatter(format: OcrFormat, file: string): PageFormatter {
  const pages: OcrPage[] = [];
  switch (format) {
    case 'text':
      return { page: ({ markdown }) => `${markdown.trimEnd()}\n\f`, end: () => '' };
    case 'markdown':
      return { page: ({ markdown }) => `${markdown.trimEnd()}\n\n`, end: () => '' };
    case 'ndjson':
      return { page: (page) => `${JSON.stringify({ document: file, ...page })}\n`, end: () => '' };
    case 'json':
      return {
        page(page) {
          pages.push(page);
          return '';
        },
        end: () => `${JSON.stringify({ document: file, pages }, null, 2)}\n`,
      };
  }
}
