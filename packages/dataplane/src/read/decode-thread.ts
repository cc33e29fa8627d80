import { readFile } from 'node:fs/promises';
import type { PagefleetError } from '@pagefleet/contract';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { type CarriedError, carryError } from '../carried-error.ts';
import { type ChatHead, parseChatHead } from '../chat/parse-chat-head.ts';
import { type ParsedDocument, type ParsedItem, parseBatchBody, parseOcrBody } from './parse-ocr-body.ts';

export interface DecodeTask {
  readonly source: { readonly path: string } | { readonly bytes: Uint8Array };
  /** `documents` of one request (`maxDocuments` null) or a batch; `chat`: where the request goes */
  readonly want:
    | { readonly kind: 'documents'; readonly maxDocuments: number | null }
    | { readonly kind: 'chat' };
}

export type DecodeResult =
  | { readonly items: ({ readonly document: ParsedDocument } | { readonly error: CarriedError })[] }
  | { readonly head: ChatHead }
  | { readonly error: CarriedError };

/** Thread: parses a large JSON body and decodes the documents in it, away from the event loop. */
export default async function decode(task: DecodeTask): Promise<DecodeResult> {
  try {
    const bytes = 'path' in task.source ? await readFile(task.source.path) : task.source.bytes;
    if (task.want.kind === 'chat') return { head: parseChatHead(bytes) };
    return moved(decodeBody(bytes, task.want.maxDocuments));
  } catch (cause) {
    return { error: carryError(cause) };
  }
}

/** The same work for a small body, on the loop. */
export function decodeBody(bytes: Uint8Array, maxDocuments: number | null): ParsedItem[] {
  const text = textOf(bytes);
  return maxDocuments === null ? parseOcrBody(text) : parseBatchBody(text, maxDocuments);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function moved(items: readonly ParsedItem[]): DecodeResult {
  const value: DecodeResult = {
    items: items.map((item) =>
      'error' in item ? { error: carryError(item.error satisfies PagefleetError) } : item,
    ),
  };
  const buffers = items.flatMap((item) =>
    'document' in item && item.document.source.kind === 'bytes' ? [item.document.source.bytes.buffer] : [],
  );
  // The decoded documents are handed over, not copied: 29 MB would hold up the receiving loop for 25 ms.
  return move({ [transferableSymbol]: buffers, [valueSymbol]: value } as never) as never;
}
