import type { OcrPage } from '@pagefleet/contract';
import type { Exchange } from './exchange.ts';
import { createInOrder } from './in-order.ts';
import { createPaddedOutput } from './padded-output.ts';
import { briefError, type DocumentEnd, errorOfDocument, type Reply } from './reply.ts';

const CONTENT_TYPE = 'application/json; charset=utf-8';

/**
 * One document as Mistral answers it. Its pages are written in order as they finish, so a long document is not held in
 * memory once the headers are out; what is known only at the end stands at the end.
 */
export function createJsonReply(exchange: Exchange, afterMs: number): Reply {
  const output = createPaddedOutput(exchange, { contentType: CONTENT_TYPE, padding: ' ', afterMs });
  let opened = false;

  function open(): void {
    if (opened) return;
    opened = true;
    output.write('{"pages":[');
  }

  const inOrder = createInOrder<OcrPage>((page, position) => {
    open();
    output.write(`${position === 0 ? '' : ','}${JSON.stringify(page)}`);
  });

  function close(end: DocumentEnd | null, error: { code: string; message: string } | null): void {
    open();
    const tail = {
      model: end?.model ?? '',
      document_annotation: null,
      usage_info: {
        pages_processed: (end?.pages ?? 0) - (end?.failed ?? 0),
        doc_size_bytes: end?.bytes ?? 0,
      },
      request_id: exchange.requestId,
      ...(error === null ? {} : { error }),
    };
    output.write(`],${JSON.stringify(tail).slice(1)}`);
  }

  let ended: DocumentEnd | null = null;
  return {
    page: (_document, position, page) => inOrder(position, page),
    documentEnd(_document, end) {
      ended = end;
    },
    finish() {
      if (ended?.error && !output.committed) {
        output.abandon();
        exchange.fail(ended.error);
        return;
      }
      close(ended, ended ? errorOfDocument(ended) : null);
      output.finish();
    },
    fail(error) {
      if (!output.committed) {
        output.abandon();
        exchange.fail(error);
        return;
      }
      close(null, briefError(error));
      output.finish();
    },
  };
}
