import type { OcrPage } from '@pagefleet/contract';
import type { Exchange } from './exchange.ts';
import { createInOrder } from './in-order.ts';
import { createPaddedOutput } from './padded-output.ts';
import { briefError, errorOfDocument, type Reply } from './reply.ts';

export interface BatchJsonOptions {
  readonly afterMs: number;
  nameOf(document: number): string;
}

/** `{documents: [...]}` in the order of the request, each as a single request would answer it. */
export function createBatchJsonReply(exchange: Exchange, options: BatchJsonOptions): Reply {
  const { afterMs } = options;
  const output = createPaddedOutput(exchange, {
    contentType: 'application/json; charset=utf-8',
    padding: ' ',
    afterMs,
  });
  const pages = new Map<number, { position: number; page: OcrPage }[]>();
  let opened = false;

  const inOrder = createInOrder<string>((text, position) => {
    output.write(`${position === 0 ? '{"documents":[' : ','}${text}`);
    opened = true;
  });

  function close(error: { code: string; message: string } | null): void {
    const tail = { request_id: exchange.requestId, ...(error === null ? {} : { error }) };
    output.write(`${opened ? '' : '{"documents":['}],${JSON.stringify(tail).slice(1)}`);
    output.finish();
  }

  return {
    page(document, position, page) {
      const known = pages.get(document);
      if (known) known.push({ position, page });
      else pages.set(document, [{ position, page }]);
    },
    documentEnd(document, end) {
      const own = (pages.get(document) ?? []).sort((a, b) => a.position - b.position);
      pages.delete(document);
      const error = errorOfDocument(end);
      const answer = {
        document: options.nameOf(document),
        pages: own.map(({ page }) => page),
        model: end.model,
        usage_info: { pages_processed: end.pages - end.failed, doc_size_bytes: end.bytes },
        ...(error === null ? {} : { error }),
      };
      inOrder(document, JSON.stringify(answer));
    },
    finish: () => close(null),
    fail(error) {
      if (output.committed) {
        close(briefError(error));
        return;
      }
      output.abandon();
      exchange.fail(error);
    },
  };
}
