import { isErrorCode, type OcrLine, type OcrPage, PagefleetError } from '@pagefleet/contract';

type PageLine = Extract<OcrLine, { type: 'page' }>;

/**
 * Pages come as they finish; they leave in the order of the document, each as soon as all before it are known. Of a selection
 * that leaves pages out, the rest leaves at the end. Throws when the document failed before any page.
 */
export async function* readPagesInOrder(
  lines: AsyncIterable<OcrLine>,
  onPage: (page: PageLine) => void = () => undefined,
): AsyncGenerator<OcrPage> {
  const held = new Map<number, OcrPage>();
  let next = 0;
  let seen = 0;
  for await (const line of lines) {
    if (line.type === 'document' && line.error && seen === 0) throw documentError(line.error);
    if (line.type !== 'page') continue;
    seen += 1;
    onPage(line);
    held.set(line.index, line);
    for (let page = held.get(next); page; page = held.get(next)) {
      held.delete(next);
      next += 1;
      yield page;
    }
  }
  yield* [...held.values()].sort((a, b) => a.index - b.index);
}

function documentError({ code, message }: { code: string; message: string }): PagefleetError {
  return new PagefleetError(isErrorCode(code) ? code : 'internal', message);
}
