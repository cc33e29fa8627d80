import type { PdfHandle } from './pdf-handle.ts';
import { countPagesWithQpdf } from './repair-with-qpdf.ts';

/** Without a second reader so many unloadable pages at the end are taken for damage, more for a lie. */
const BELIEVED_UNLOADABLE = 8;

/**
 * How many pages a PDF really has. `/Count` is only a claim: when its last page cannot be loaded, the page tree is
 * walked by the second reader. 0 = not one page can be opened.
 */
export async function countPagesInPdf(pdf: PdfHandle, bytes: Uint8Array): Promise<number> {
  const claimed = pdf.claimedPageCount();
  if (pdf.canLoad(claimed - 1)) return claimed;
  const loadable = lastLoadable(pdf, claimed) + 1;
  if (loadable === 0) return 0;
  const walked = await countPagesWithQpdf(bytes);
  if (walked !== null) return Math.min(claimed, Math.max(walked, loadable));
  return claimed - loadable <= BELIEVED_UNLOADABLE ? claimed : loadable;
}

/** Index of the last page that loads, or -1; found by halving, which takes loadable pages to come first. */
function lastLoadable(pdf: PdfHandle, claimed: number): number {
  let low = -1;
  let high = claimed - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (pdf.canLoad(middle)) low = middle;
    else high = middle;
  }
  return low;
}
