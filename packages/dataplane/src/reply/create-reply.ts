import { createBatchJsonReply } from './batch-json-reply.ts';
import { chooseFormat } from './choose-format.ts';
import type { Exchange } from './exchange.ts';
import { createJsonReply } from './json-reply.ts';
import { createNdjsonReply } from './ndjson-reply.ts';
import type { Reply } from './reply.ts';
import { createTextReply } from './text-reply.ts';

/** The reply in the format of `Accept`: JSON for one document, lines for a batch, unless it says otherwise. */
export function createReply(exchange: Exchange, names: readonly string[] | null, afterMs: number): Reply {
  const { accept } = exchange.request.headers;
  if (names !== null) {
    const nameOf = (document: number): string => names[document] ?? String(document);
    if (chooseFormat(accept, 'ndjson') === 'ndjson') return createNdjsonReply(exchange, { afterMs, nameOf });
    return createBatchJsonReply(exchange, { afterMs, nameOf });
  }
  switch (chooseFormat(accept, 'json')) {
    case 'ndjson':
      return createNdjsonReply(exchange, { afterMs, nameOf: () => null });
    case 'markdown':
      return createTextReply(exchange, {
        afterMs,
        contentType: 'text/markdown; charset=utf-8',
        separator: '\n\n',
      });
    case 'text':
      return createTextReply(exchange, {
        afterMs,
        contentType: 'text/plain; charset=utf-8',
        separator: '\n\f',
      });
    case 'json':
      return createJsonReply(exchange, afterMs);
  }
}
