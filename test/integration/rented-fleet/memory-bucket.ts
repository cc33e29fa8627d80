import type { Bucket } from '@pagefleet/runtime';

/** The record of who is in charge, as NATS keeps it, by compare-and-set. It never fails here: that is shown elsewhere. */
export function createMemoryBucket<T>(): Bucket<T> {
  const records = new Map<string, { value: T; revision: number }>();
  let revision = 0;
  return {
    get: async (key) => records.get(key) ?? null,
    async write(key, value, expected) {
      if ((records.get(key)?.revision ?? 0) !== expected) return { kind: 'conflict' };
      revision += 1;
      records.set(key, { value, revision });
      return { kind: 'written', revision };
    },
    remove: () => Promise.reject(new Error('nobody removes an epoch')),
    keys: async () => [...records.keys()],
    watch: () => () => undefined,
  };
}
