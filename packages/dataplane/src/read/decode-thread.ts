import { readFile } from 'node:fs/promises';
import type { PagefleetError } from '@pagefleet/contract';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { type CarriedError, carryError } from '../carried-error.ts';
import { type ParsedDocument, type ParsedItem, parseBatchBody, parseOcrBody } from './parse-ocr-body.ts';

export interface DecodeTask {
  readonly source: { readonly path: string } | { readonly bytes: Uint8Array };
  /** null = a single request */
  readonly maxDocuments: number | null;
}

export type DecodeResult =
  | { readonly items: ({ readonly document: ParsedDocument } | { readonly error: CarriedError })[] }
  | { readonly error: CarriedError };

/** Thread: parses a large JSON body and decodes the documents in it, away from the event loop. */
export default async function decode(task: DecodeTask): Promise<DecodeResult> {
  try {
    const bytes = 'path' in task.source ? await readFile(task.source.path) : task.source.bytes;
    return moved(decodeBody(bytes, task.maxDocuments));
  } catch (cause) {
    return { error: carryError(cause) };
  }
}

/** The same work for a small body, on the loop. */
export function decodeBody(bytes: Uint8Array, maxDocuments: number | null): ParsedItem[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return maxDocuments === null ? parseOcrBody(text) : parseBatchBody(text, maxDocuments);
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
