import type { DocumentLimits, PageKind } from '@pagefleet/engines';
import type { CarriedError } from '../carried-error.ts';

/** Where a splitter finds the document: bytes are copied to it, a file it reads by itself. */
type SplitInput = { readonly path: string } | { readonly bytes: Uint8Array };

export interface SplitTask {
  readonly input: SplitInput;
  readonly limits: DocumentLimits;
}

/** To the splitter: each `page` is one credit. */
export type SplitAsk = { readonly kind: 'page'; readonly index: number } | { readonly kind: 'close' };

export type SplitAnswer =
  | { readonly kind: 'opened'; readonly pageCount: number }
  | { readonly kind: 'refused'; readonly error: CarriedError }
  | { readonly kind: 'page'; readonly page: PageKind; readonly bytes: Uint8Array }
  | { readonly kind: 'page_failed'; readonly error: CarriedError };

/** The splitter's end of the line, be it a thread's port or a child's pipe. */
export interface SplitLine {
  answer(answer: SplitAnswer): void;
  /** The next thing asked for. */
  next(): Promise<SplitAsk>;
}
