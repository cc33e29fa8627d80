import type { Readable } from 'node:stream';
import { PagefleetError } from '@pagefleet/contract';

/** One page of a dense document with every word's box is a few MB; a line beyond this is not ours. */
const MAX_LINE_CHARS = 64_000_000;

/** NDJSON, one value a line; blank lines keep the connection alive and mean nothing. */
export async function* readLines<T>(stream: Readable): AsyncGenerator<T> {
  let rest = '';
  stream.setEncoding('utf8');
  for await (const chunk of stream as AsyncIterable<string>) {
    rest += chunk;
    let end = rest.indexOf('\n');
    while (end >= 0) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      if (line.trim() !== '') yield parseLine<T>(line);
      end = rest.indexOf('\n');
    }
    if (rest.length > MAX_LINE_CHARS) throw notOurs();
  }
  if (rest.trim() !== '') yield parseLine<T>(rest);
}

function parseLine<T>(line: string): T {
  try {
    return JSON.parse(line) as T;
  } catch (cause) {
    throw notOurs(cause);
  }
}

function notOurs(cause?: unknown): PagefleetError {
  return new PagefleetError('internal', 'The answer is not the NDJSON it should be.', { cause });
}
