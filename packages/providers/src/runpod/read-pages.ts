import { PagefleetError } from '@pagefleet/contract';
import { type ApiAnswer, type Clock, type Operation, READ_TIMEOUT_MS, type Send } from './api-call.ts';
import { isRecord } from './read-complaint.ts';
import { goodAnswer, isPassing } from './read-failure.ts';

export interface PagedList {
  readonly operation: Operation;
  /** `/pods` */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** under which name the entries stand: `pods` */
  readonly name: string;
}

export type Pages =
  | { readonly kind: 'complete'; readonly items: readonly unknown[] }
  /** a page did not come; the whole list is to be asked for elsewhere or not at all */
  | { readonly kind: 'failed'; readonly answer: ApiAnswer };

const LIMIT = 1_000;
/** A million entries: a cursor that leads in a circle. */
const MAX_PAGES = 1_000;
const AGAIN_AFTER_MS = 1_000;

/**
 * A list of REST v2, to its end. Null entries are skipped; anything else that is not as it should be makes the
 * list a failure, for a short one would be taken for complete. Servers without pagination answer everything at once.
 */
export async function readPages(send: Send, clock: Clock, list: PagedList): Promise<Pages> {
  const items: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({
      ...list.query,
      limit: String(LIMIT),
      ...(cursor === null ? {} : { cursor }),
    });
    const answer = await askTwice(send, clock, { ...list, path: `${list.path}?${query}` });
    const good = goodAnswer(answer, 'rest');
    if (good === null) return { kind: 'failed', answer };
    const page = readPage(good.body, list.name);
    items.push(...page.items);
    cursor = page.nextCursor;
    if (cursor !== null && (seen.has(cursor) || seen.size >= MAX_PAGES))
      throw unreadable('its pages lead in a circle');
    if (cursor !== null) seen.add(cursor);
  } while (cursor !== null);
  return { kind: 'complete', items };
}

async function askTwice(send: Send, clock: Clock, { operation, path }: PagedList): Promise<ApiAnswer> {
  const call = { operation, method: 'GET', path, timeoutMs: READ_TIMEOUT_MS } as const;
  const answer = await send(call);
  if (!isPassing(answer)) return answer;
  await clock.sleep(AGAIN_AFTER_MS);
  return send(call);
}

function readPage(body: unknown, name: string): { items: unknown[]; nextCursor: string | null } {
  const list = isRecord(body) ? body[name] : null;
  if (!Array.isArray(list)) throw unreadable(`it has no list of ${name}`);
  const items = list.filter((item) => item !== null);
  const pagination = (body as Record<string, unknown>).pagination ?? null;
  if (pagination === null) return { items, nextCursor: null };
  const { hasNextPage, nextCursor = null } = pagination as { hasNextPage?: unknown; nextCursor?: unknown };
  if (hasNextPage === false) return { items, nextCursor: null };
  if (hasNextPage !== true || typeof nextCursor !== 'string' || nextCursor === '')
    throw unreadable('it does not say where it goes on');
  return { items, nextCursor };
}

function unreadable(why: string): PagefleetError {
  return new PagefleetError('provider_failed', `A list of RunPod cannot be read to its end: ${why}.`);
}
