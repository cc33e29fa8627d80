import type { Config } from '@pagefleet/contract';
import { PagefleetError } from '@pagefleet/contract';
import { sniffKind } from '@pagefleet/engines';
import type { DocumentFetcher } from './read/fetch-document.ts';
import { type HeldBytes, readHead } from './read/held-bytes.ts';
import type { IncomingDocument } from './read/read-documents.ts';
import type { DocumentSplitter } from './split/document-splitter.ts';
import { type PageSource, pictureSource } from './split/page-source.ts';

export interface SourceOptions {
  readonly limits: Config['limits'];
  readonly splitter: DocumentSplitter;
  readonly fetcher: DocumentFetcher;
}

export interface OpenedSource {
  readonly source: PageSource;
  readonly bytes: number;
}

/** Opens a document by its content. The source owns the document's bytes; when it throws, they are given back. */
export async function openSource(
  document: IncomingDocument,
  options: SourceOptions,
  signal: AbortSignal,
): Promise<OpenedSource> {
  const held =
    document.source.kind === 'held'
      ? document.source.held
      : await options.fetcher.fetch(document.source.url, signal);
  try {
    return { source: await openHeld(held, options, signal), bytes: held.size };
  } catch (cause) {
    held.release();
    throw cause;
  }
}

async function openHeld(
  held: HeldBytes,
  { limits, splitter }: SourceOptions,
  signal: AbortSignal,
): Promise<PageSource> {
  const kind = sniffKind(await readHead(held));
  if (kind === null) {
    throw new PagefleetError(
      'unsupported_media_type',
      'the document is no PDF, PNG, JPEG, TIFF or WebP by its content',
    );
  }
  // Only these two have pages; a picture goes to the pod as it came.
  if (kind !== 'pdf' && kind !== 'tiff') return pictureSource(kind, held);
  const documentLimits = { maxPages: limits.maxPagesPerDocument, maxPixels: limits.maxPixels };
  return splitter.open(held, documentLimits, signal);
}
