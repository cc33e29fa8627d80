import type { PageKind } from '@pagefleet/engines';
import type { HeldBytes } from '../read/held-bytes.ts';

/** One page taken out of its document. */
export interface SplitPage {
  readonly kind: PageKind;
  readonly bytes: HeldBytes;
}

/** A document whose pages are pulled one by one. */
export interface PageSource {
  readonly pageCount: number;
  /** Rejects with what is wrong with this page alone, or with the document from here on. */
  page(index: number, signal: AbortSignal): Promise<SplitPage>;
  /** Gives back the document itself; pages taken out are the caller's. */
  close(): void;
}

/** A picture is its own only page and needs no thread. */
export function pictureSource(kind: PageKind, bytes: HeldBytes): PageSource {
  let taken = false;
  return {
    pageCount: 1,
    async page() {
      taken = true;
      return { kind, bytes };
    },
    close() {
      if (!taken) bytes.release();
    },
  };
}
