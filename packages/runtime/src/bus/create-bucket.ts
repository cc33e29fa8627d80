import type { BucketName } from '@pagefleet/contract';
import type { Logger } from '../logger.ts';
import type { Bucket } from './bucket.ts';
import { BucketStore, checkKey } from './bucket-store.ts';
import type { NatsLink } from './nats-link.ts';
import type { BucketRecord } from './validators.ts';
import { watchBucket } from './watch-bucket.ts';

export function createBucket<B extends BucketName>(
  link: NatsLink,
  name: B,
  logger: Logger,
): Bucket<BucketRecord<B>> & { close(): void } {
  const store = new BucketStore(link, name);
  const stops = new Set<() => void>();
  return {
    get: (key) => store.get(key),
    write: (key, value, expected) => store.write(key, value, expected),
    remove: (key) => store.remove(key),
    keys: () => store.keys(),
    watch(key, callback) {
      if (key !== '*') checkKey(key);
      const stop = watchBucket({ link, store, key, callback, logger });
      stops.add(stop);
      return () => {
        stops.delete(stop);
        stop();
      };
    },
    close() {
      for (const stop of stops) stop();
    },
  };
}
