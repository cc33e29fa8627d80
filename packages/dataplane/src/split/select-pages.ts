import { PagefleetError } from '@pagefleet/contract';

/** Ranges may overlap, so their number is what bounds the work. */
const MAX_RANGES = 10_000;

/**
 * The 0-based pages a client asked for, in page order and each once: null = all, a list, or text such as `0-5` or `0,2-4`.
 * Throws `bad_request` for what is no selection and `page_out_of_range` for a page that does not exist.
 */
export function selectPages(selection: readonly number[] | string | null, pageCount: number): number[] {
  if (selection === null) return Array.from({ length: pageCount }, (_, index) => index);
  const ranges =
    typeof selection === 'string'
      ? parseRanges(selection)
      : selection.map((page) => ({ from: page, to: page }));
  if (ranges.length === 0) throw invalid('pages selects no page; leave it out to read all');
  if (ranges.length > MAX_RANGES) throw invalid(`pages lists more than ${MAX_RANGES} pages or ranges`);
  const pages = new Set<number>();
  for (const { from, to } of ranges) {
    if (from > to) throw invalid(`pages has the range ${from}-${to}, which ends before it starts`);
    if (to >= pageCount) throw outOfRange(to, pageCount);
    for (let page = from; page <= to; page += 1) pages.add(page);
  }
  return [...pages].sort((a, b) => a - b);
}

function parseRanges(text: string): { from: number; to: number }[] {
  return text.split(',').map((part) => {
    const match = /^\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?$/.exec(part);
    if (!match) throw invalid(`pages is "${text}"; expected 0-based pages such as 0-5 or 0,2-4`);
    const from = Number(match[1]);
    return { from, to: match[2] === undefined ? from : Number(match[2]) };
  });
}

function outOfRange(page: number, pageCount: number): PagefleetError {
  return new PagefleetError(
    'page_out_of_range',
    `page ${page} does not exist; the document has ${pageCount} pages, counted from 0`,
    { details: { param: 'pages', page, pages: pageCount } },
  );
}

function invalid(message: string): PagefleetError {
  return new PagefleetError('bad_request', message, { details: { param: 'pages' } });
}
