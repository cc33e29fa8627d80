import { PagefleetError } from '@pagefleet/contract';

/**
 * `1,3-5` as people count pages → `0,2-4` as the endpoint does. Whether the document has such pages, only the endpoint knows.
 */
export function parsePages(text: string): string {
  return text
    .split(',')
    .map((part) => part.trim())
    .map((part) => {
      const match = /^(\d+)(?:-(\d+))?$/.exec(part);
      const from = Number(match?.[1]);
      const to = match?.[2] === undefined ? from : Number(match[2]);
      if (!match || from < 1 || to < from) throw notPages(text);
      return from === to ? String(from - 1) : `${from - 1}-${to - 1}`;
    })
    .join(',');
}

function notPages(text: string): PagefleetError {
  return new PagefleetError(
    'bad_request',
    `--pages is "${text}"; expected page numbers from 1 on, such as 3 or 1,4-7`,
  );
}
