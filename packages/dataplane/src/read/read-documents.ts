import type { IncomingMessage } from 'node:http';
import { PagefleetError } from '@pagefleet/contract';
import { sniffKind } from '@pagefleet/engines';
import type { BodyDecoder } from './body-decoder.ts';
import type { BodyStore } from './body-store.ts';
import { type HeldBytes, readHead } from './held-bytes.ts';
import { type OcrOptions, optionsOfText } from './ocr-options.ts';
import type { ParsedItem } from './parse-ocr-body.ts';
import { createFormReader, type Form } from './read-multipart.ts';
import { readUpload } from './upload.ts';
import type { UploadLimits } from './upload-guard.ts';

/** A document as it came in; a URL is fetched when its turn comes. */
export interface IncomingDocument {
  readonly name: string | null;
  readonly options: OcrOptions;
  readonly source:
    | { readonly kind: 'held'; readonly held: HeldBytes }
    | { readonly kind: 'url'; readonly url: string };
}

export type IncomingItem = { readonly document: IncomingDocument } | { readonly error: PagefleetError };

export interface ReadOptions {
  readonly store: BodyStore;
  readonly decoder: BodyDecoder;
  readonly query: URLSearchParams;
  /** null = one document, not a batch */
  readonly maxDocuments: number | null;
  readonly maxBytes: number;
  readonly upload: UploadLimits;
  readonly signal: AbortSignal;
}

/**
 * Reads a request body in any of its forms, told by content and not by what the headers claim: a form, Mistral's JSON, or
 * the document itself. The caller releases every `held` of the result.
 */
export async function readDocuments(request: IncomingMessage, options: ReadOptions): Promise<IncomingItem[]> {
  checkEncoding(request);
  const queryOptions = optionsOfText(options.query);
  if (isForm(request)) return documentsOfForm(await readForm(request, options), options.query);
  const held = await readWhole(request, options);
  if (held.size === 0) {
    held.release();
    throw new PagefleetError('empty_body', 'the request carries no document');
  }
  try {
    const head = await readHead(held);
    if (sniffKind(head) === null && looksLikeJson(head)) return await readJson(held, options);
  } catch (cause) {
    held.release();
    throw cause;
  }
  return [heldDocument(null, queryOptions, held)];
}

function heldDocument(name: string | null, options: OcrOptions, held: HeldBytes): IncomingItem {
  return { document: { name, options, source: { kind: 'held', held } } };
}

/** The body as it came, in memory or on disk; the caller releases it. */
export async function readWhole(
  request: IncomingMessage,
  options: Pick<ReadOptions, 'store' | 'maxBytes' | 'upload' | 'signal'>,
): Promise<HeldBytes> {
  const sink = options.store.sink(options.maxBytes);
  try {
    await readUpload(request, (chunk) => sink.write(chunk), {
      limits: options.upload,
      signal: options.signal,
    });
    return await sink.finish();
  } finally {
    sink.abandon();
  }
}

async function readForm(request: IncomingMessage, options: ReadOptions): Promise<Form> {
  const form = createFormReader(request.headers, {
    store: options.store,
    maxFiles: options.maxDocuments ?? 1,
    maxBytes: options.maxBytes,
    signal: options.signal,
  });
  let size = 0;
  const take = (chunk: Buffer): Promise<void> | undefined => {
    size += chunk.length;
    if (size > options.maxBytes) return Promise.reject(tooLarge(options.maxBytes));
    return form.write(chunk);
  };
  try {
    await readUpload(request, take, { limits: options.upload, signal: options.signal });
    return await form.finish();
  } finally {
    form.abandon();
  }
}

function documentsOfForm(form: Form, query: URLSearchParams): IncomingItem[] {
  try {
    if (form.files.length === 0) {
      throw new PagefleetError('empty_body', 'the form has no part "file" that holds a document');
    }
    const options = optionsOfText([...query, ...form.fields]);
    return form.files.map((file) => {
      if (file.bytes.size > 0) return heldDocument(file.name, options, file.bytes);
      file.bytes.release();
      return { error: new PagefleetError('empty_body', `the document ${file.name ?? ''} has no bytes`) };
    });
  } catch (cause) {
    for (const file of form.files) file.bytes.release();
    throw cause;
  }
}

/** The JSON text is given back; the documents decoded from it are held instead. */
async function readJson(body: HeldBytes, options: ReadOptions): Promise<IncomingItem[]> {
  const parsed = await options.decoder.decode(body, options.maxDocuments, options.signal);
  body.release();
  const items: IncomingItem[] = [];
  try {
    for (const item of parsed) items.push(await holdParsed(item, options.store));
    return items;
  } catch (cause) {
    releaseAll(items);
    throw cause;
  }
}

async function holdParsed(item: ParsedItem, store: BodyStore): Promise<IncomingItem> {
  if ('error' in item) return item;
  const { name, options, source } = item.document;
  if (source.kind === 'url') return { document: { name, options, source } };
  return heldDocument(name, options, await store.hold(source.bytes));
}

export function releaseAll(items: readonly IncomingItem[]): void {
  for (const item of items) {
    if ('document' in item && item.document.source.kind === 'held') item.document.source.held.release();
  }
}

function isForm(request: IncomingMessage): boolean {
  return /^multipart\/form-data.*boundary=/i.test(request.headers['content-type'] ?? '');
}

/** An object or a list by its first sign; anything else that JSON knows only as a whole, for text may begin like it. */
function looksLikeJson(head: Uint8Array): boolean {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1');
  return /^(\xef\xbb\xbf)?\s*([{[]|(null|true|false|-?\d[\d.eE+-]*|"[^"]*")\s*$)/.test(text);
}

export function checkEncoding(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() === 'identity') return;
  throw new PagefleetError(
    'unsupported_media_type',
    `a body encoded as ${encoding} is not accepted; send it plain`,
  );
}

function tooLarge(maxBytes: number): PagefleetError {
  return new PagefleetError('payload_too_large', `the body is larger than the limit of ${maxBytes} bytes`, {
    details: { max_bytes: maxBytes },
  });
}
