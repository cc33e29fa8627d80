import type { IncomingHttpHeaders } from 'node:http';
import { PAGE_HEADERS, PagefleetError, PageOptions } from '@pagefleet/contract';
import { Compile } from 'typebox/compile';

/** No page is read for longer, whatever its sender allows: slots older than that are swept. */
export const MAX_DEADLINE_MS = 15 * 60_000;

export interface PageHeaders {
  readonly pageId: string;
  readonly owner: string;
  readonly deadlineMs: number;
  readonly options: PageOptions;
}

const options = Compile(PageOptions);

/** Throws `bad_request` with the header's name as `param`. */
export function parsePageHeaders(headers: IncomingHttpHeaders): PageHeaders {
  return {
    pageId: parsePageId(headers[PAGE_HEADERS.pageId], PAGE_HEADERS.pageId),
    owner: parseOwner(headers[PAGE_HEADERS.owner]),
    deadlineMs: parseDeadline(headers[PAGE_HEADERS.deadlineMs]),
    options: parseOptions(headers[PAGE_HEADERS.options]),
  };
}

export function parsePageId(value: unknown, param: string): string {
  if (typeof value === 'string' && /^[A-Za-z0-9._-]{1,120}$/.test(value)) return value;
  throw malformed(param, 'expected 1 to 120 of the characters A-Z a-z 0-9 . _ -');
}

function parseOwner(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw malformed(PAGE_HEADERS.owner, 'expected the id of the cluster that sends the page');
}

function parseDeadline(value: unknown): number {
  if (value === undefined) return MAX_DEADLINE_MS;
  if (typeof value === 'string' && /^\d{1,12}$/.test(value)) return Math.min(Number(value), MAX_DEADLINE_MS);
  throw malformed(PAGE_HEADERS.deadlineMs, 'expected whole milliseconds');
}

function parseOptions(value: unknown): PageOptions {
  if (value === undefined) return {};
  const parsed = decodeBase64Json(String(value));
  if (options.Check(parsed)) return parsed;
  throw malformed(PAGE_HEADERS.options, 'expected page options as base64url JSON');
}

function decodeBase64Json(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

function malformed(param: string, expected: string): PagefleetError {
  return new PagefleetError('bad_request', `header ${param} is missing or malformed: ${expected}`, {
    details: { param },
  });
}
