import type { PdfHandle } from './pdf-handle.ts';
import { countPagesWithQpdf } from './repair-with-qpdf.ts';

/** Without a second reader so many unloadable pages at the end are taken for damage, more for a lie. */
const BELIEVED_UNLOADABLE = 8;

const SEARCHED_ONE_BY_ONE = 1000;

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

/** Index of the last page that loads, or -1. Of many it is found by halving, which takes loadable pages to come first. */
function lastLoadable(pdf: PdfHandle, claimed: number): number {
  if (claimed <= SEARCHED_ONE_BY_ONE) {
    let index = claimed - 1;
    while (index >= 0 && !pdf.canLoad(index)) index -= 1;
    return index;
  }
  let low = -1;
  let high = claimed - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (pdf.canLoad(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * Page objects that lie open in the file: an upper hint only, since older revisions keep theirs and compressed ones
 * do not show.
 */
export function countPageObjects(bytes: Uint8Array): number {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let at = view.indexOf('/Page'); at >= 0; at = view.indexOf('/Page', at + 5)) {
    const isPage = !/[A-Za-z]/.test(String.fromCharCode(view[at + 5] ?? 0));
    const before = view.toString('latin1', Math.max(0, at - 8), at);
    if (isPage && /\/Type\s*$/.test(before)) count += 1;
  }
  return count;
}
