import type { Bucket } from '@pagefleet/runtime';

/** A bucket in memory, for tests, that can lose answers and let others write in between. */
export interface MemoryBucket<T> extends Bucket<T> {
  readonly records: Map<string, { value: T; revision: number }>;
  /** the next write: `lost` happens but its answer does not come, `never` does not happen either */
  failNext(how: 'lost' | 'never'): void;
  /** as another process would */
  writeBehindOurBack(key: string, value: T): void;
  /** like a server that lost its state */
  wipe(): void;
  /** every call fails until `back()` */
  goAway(): void;
  back(): void;
}

export function createMemoryBucket<T>(): MemoryBucket<T> {
  const records = new Map<string, { value: T; revision: number }>();
  const watchers = new Set<(key: string, value: T | null, revision: number) => void>();
  let revision = 0;
  let fail: 'lost' | 'never' | null = null;
  let away = false;

  function store(key: string, value: T): number {
    revision += 1;
    records.set(key, { value, revision });
    for (const watcher of watchers) watcher(key, value, revision);
    return revision;
  }

  return {
    records,
    failNext(how) {
      fail = how;
    },
    writeBehindOurBack: store,
    wipe() {
      const keys = [...records.keys()];
      records.clear();
      for (const key of keys) for (const watcher of watchers) watcher(key, null, 0);
    },
    goAway() {
      away = true;
    },
    back() {
      away = false;
    },
    async get(key) {
      if (away) throw new Error('bus_unavailable');
      return records.get(key) ?? null;
    },
    async write(key, value, expected) {
      const how = fail;
      fail = null;
      if (away || how === 'never') return { kind: 'unknown', cause: new Error('no answer') };
      if ((records.get(key)?.revision ?? 0) !== expected) return { kind: 'conflict' };
      const stored = store(key, value);
      if (how === 'lost') return { kind: 'unknown', cause: new Error('no answer') };
      return { kind: 'written', revision: stored };
    },
    async remove(key) {
      records.delete(key);
      for (const watcher of watchers) watcher(key, null, 0);
    },
    async keys() {
      return [...records.keys()];
    },
    watch(key, callback) {
      const watcher = (changed: string, value: T | null, at: number) => {
        if (key === '*' || key === changed) callback(changed, value, at);
      };
      watchers.add(watcher);
      for (const [held, { value, revision: at }] of records) watcher(held, value, at);
      return () => watchers.delete(watcher);
    },
  };
}
