import { Problem } from './problem.ts';
import type { V2Request } from './serve-v2.ts';

const MAX_LIMIT = 1_000;

/**
 * One page of a list. The cursor names the last entry of the page before, so that entries that come and go meanwhile
 * are neither shown twice nor skipped; it is good only for the list and the parameters it was given for.
 */
export function paginate<T extends { readonly id: string }>(
  { service, query, pattern }: Pick<V2Request, 'service' | 'query' | 'pattern'>,
  items: readonly T[],
): { items: T[]; pagination?: { nextCursor: string | null; hasNextPage: boolean } } {
  const { maxPageSize, omitPagination } = service.account.knobs;
  if (omitPagination) return { items: [...items] };
  const asked = query.get('limit') ?? String(MAX_LIMIT);
  const limit = /^\d+$/.test(asked) ? Number(asked) : 0;
  if (limit < 1 || limit > MAX_LIMIT) throw new Problem(422, `limit must be between 1 and ${MAX_LIMIT}`);
  const key = listKey(pattern, query);
  const after = afterOf(query.get('cursor'), key);
  const size = Math.min(limit, maxPageSize);
  const sorted = items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const rest = after === null ? sorted : sorted.filter(({ id }) => id > after);
  const page = rest.slice(0, size);
  const last = page.at(-1);
  const hasNextPage = rest.length > size && last !== undefined;
  const nextCursor = hasNextPage ? Buffer.from(JSON.stringify([key, last.id])).toString('base64url') : null;
  return { items: page, pagination: { nextCursor, hasNextPage } };
}

function listKey(pattern: string, query: URLSearchParams): string {
  const others = [...query].filter(([name]) => name !== 'cursor' && name !== 'limit');
  return `${pattern}?${new URLSearchParams(others)}`;
}

function afterOf(cursor: string | null, key: string): string | null {
  if (cursor === null) return null;
  try {
    const [listed, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as string[];
    if (listed === key && typeof id === 'string') return id;
  } catch {
    // Not one of ours: refused below.
  }
  throw new Problem(422, 'cursor is not valid for this request');
}
