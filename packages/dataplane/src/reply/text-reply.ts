import type { OcrPage } from '@pagefleet/contract';
import type { Exchange } from './exchange.ts';
import { createInOrder } from './in-order.ts';
import { createPaddedOutput } from './padded-output.ts';
import type { DocumentEnd, Reply } from './reply.ts';

export interface TextOptions {
  readonly afterMs: number;
  readonly contentType: string;
  /** stands between two pages */
  readonly separator: string;
}

/** The text of one document, page after page. A page that failed is named in its place. */
export function createTextReply(exchange: Exchange, options: TextOptions): Reply {
  const { contentType, afterMs } = options;
  const output = createPaddedOutput(exchange, { contentType, padding: '\n', afterMs });
  let ended: DocumentEnd | null = null;

  const inOrder = createInOrder<OcrPage>((page, position) => {
    output.write(`${position === 0 ? '' : options.separator}${textOf(page)}`);
  });

  return {
    page: (_document, position, page) => inOrder(position, page),
    documentEnd(_document, end) {
      ended = end;
    },
    finish() {
      if (ended?.error) {
        this.fail(ended.error);
        return;
      }
      output.write('\n');
      output.finish({ 'x-ocr-pages-failed': String(ended?.failed ?? 0) });
    },
    fail(error) {
      const { committed } = output;
      output.abandon();
      // Text cannot say that it is incomplete; a connection that breaks off can.
      if (committed) exchange.cut();
      else exchange.fail(error);
    },
  };
}

function textOf(page: OcrPage): string {
  if (!page.error) return page.markdown.trimEnd();
  return `[page ${page.index + 1} could not be read: ${page.error.code}: ${page.error.message}]`;
}
