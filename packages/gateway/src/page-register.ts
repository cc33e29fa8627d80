import { PagefleetError } from '@pagefleet/contract';

/** As long as a slot can be old: no dispatch of a page that was ended can still be on its way after that. */
const REMEMBER_MS = 15 * 60_000;
const REMEMBER_MAX = 100_000;

type PageBegin =
  | { readonly kind: 'begun'; readonly end: () => void }
  /** the same page is in the pod now */
  | { readonly kind: 'running' }
  /** it was ended by `DELETE`, perhaps before it came */
  | { readonly kind: 'ended' };

export interface PageRegister {
  begin(id: string, abort: (reason: PagefleetError) => void): PageBegin;
  /**
   * Ends a page and resolves once its reading is over. Whatever it answers, no reading of this id runs now or starts
   * within the time a dispatch can be under way: a `DELETE` that overtakes its `POST` still wins.
   */
  cancel(id: string): Promise<'over' | 'unknown'>;
  abortAll(reason: PagefleetError): void;
  /** Resolves when no page is in the pod. */
  idle(): Promise<void>;
}

interface PageInside {
  readonly abort: (reason: PagefleetError) => void;
  readonly over: Promise<void>;
}

/** Which pages are in the pod, by page id, and which were here in the last minutes (law L14). */
export function createPageRegister(nowMs: () => number): PageRegister {
  const inside = new Map<string, PageInside>();
  const finished = createRecentIds(nowMs);
  const ended = createRecentIds(nowMs);

  return {
    begin(id, abort) {
      if (inside.has(id)) return { kind: 'running' };
      if (ended.has(id)) return { kind: 'ended' };
      const { promise, resolve } = Promise.withResolvers<void>();
      inside.set(id, { abort, over: promise });
      const end = (): void => {
        if (!inside.delete(id)) return;
        finished.add(id);
        resolve();
      };
      return { kind: 'begun', end };
    },
    async cancel(id) {
      const known = inside.has(id) || finished.has(id) || ended.has(id);
      ended.add(id);
      const page = inside.get(id);
      page?.abort(new PagefleetError('client_gone', 'the page was ended by its sender'));
      await page?.over;
      return known ? 'over' : 'unknown';
    },
    abortAll(reason) {
      for (const page of inside.values()) page.abort(reason);
    },
    async idle() {
      while (inside.size > 0) await Promise.all([...inside.values()].map((page) => page.over));
    },
  };
}

interface RecentIds {
  add(id: string): void;
  has(id: string): boolean;
}

/** Ids of the last minutes, oldest first, so that forgetting is a walk from the front. */
function createRecentIds(nowMs: () => number): RecentIds {
  const addedAtMs = new Map<string, number>();

  function forget(): void {
    for (const [id, atMs] of addedAtMs) {
      if (nowMs() - atMs < REMEMBER_MS && addedAtMs.size <= REMEMBER_MAX) return;
      addedAtMs.delete(id);
    }
  }

  return {
    add(id) {
      addedAtMs.delete(id);
      addedAtMs.set(id, nowMs());
      forget();
    },
    has(id) {
      forget();
      return addedAtMs.has(id);
    },
  };
}
