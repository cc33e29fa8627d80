import type { OcrLine } from '@pagefleet/contract';
import type { Exchange } from './exchange.ts';
import { createPaddedOutput } from './padded-output.ts';
import { briefError, type Reply } from './reply.ts';

export interface NdjsonOptions {
  readonly afterMs: number;
  /** null = a single request, whose document needs no name */
  nameOf(document: number): string | null;
}

/** A line for each page as it finishes, one for each document at its end, one at the very end. */
export function createNdjsonReply(exchange: Exchange, options: NdjsonOptions): Reply {
  const output = createPaddedOutput(exchange, {
    contentType: 'application/x-ndjson; charset=utf-8',
    padding: '\n',
    afterMs: options.afterMs,
  });
  const total = { documents: 0, documents_failed: 0, pages: 0, failed: 0 };

  function write(line: OcrLine): void {
    output.write(`${JSON.stringify(line)}\n`);
    output.commit();
  }

  function named(document: number): { document?: string } {
    const name = options.nameOf(document);
    return name === null ? {} : { document: name };
  }

  return {
    page(document, _position, page, of) {
      write({ type: 'page', ...named(document), ...(of === undefined ? {} : { of }), ...page });
    },
    documentEnd(document, { pages, failed, error }) {
      total.documents += 1;
      total.pages += pages;
      total.failed += failed;
      if (error) total.documents_failed += 1;
      // A single document that never opened is still answered with its proper status.
      if (error && !output.committed && options.nameOf(document) === null) {
        output.abandon();
        exchange.fail(error);
        return;
      }
      write({
        type: 'document',
        ...named(document),
        pages,
        failed,
        ...(error ? { error: briefError(error) } : {}),
      });
    },
    finish() {
      if (exchange.started && !output.committed) return;
      write({ type: 'done', ...total, request_id: exchange.requestId });
      output.finish();
    },
    fail(error) {
      if (!output.committed) {
        output.abandon();
        exchange.fail(error);
        return;
      }
      write({ type: 'document', pages: 0, failed: 0, error: briefError(error) });
      write({ type: 'done', ...total, request_id: exchange.requestId });
      output.finish();
    },
  };
}
