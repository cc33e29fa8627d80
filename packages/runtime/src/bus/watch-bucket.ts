import type { Msg } from '@nats-io/transport-node';
import type { BucketName } from '@pagefleet/contract';
import type { Logger } from '../logger.ts';
import { type BucketStore, changeSubject } from './bucket-store.ts';
import type { NatsLink } from './nats-link.ts';
import type { BucketRecord } from './validators.ts';

interface WatchOptions<B extends BucketName> {
  readonly link: NatsLink;
  readonly store: BucketStore<B>;
  /** one key or `*` */
  readonly key: string;
  readonly callback: (key: string, value: BucketRecord<B> | null, revision: number) => void;
  readonly logger: Logger;
}

const POLL_MS = 2_000;

/**
 * Follows a bucket in two ways at once. The server repeats each stored change as a plain message, which comes at once and
 * whose subscription outlives reconnects; and every 2 s, and after each reconnect, the bucket itself is compared, which
 * finds whatever was missed: a removal, a deleted bucket, a server with empty state.
 *
 * Revisions only rise within one life of the bucket; `created` of its stream names that life.
 */
export function watchBucket<B extends BucketName>(options: WatchOptions<B>): () => void {
  const { link, store, key, callback, logger } = options;
  const revisions = new Map<string, number>();
  let life = '';
  let comparedState = '';
  let events = 0;
  let polling = false;
  let again = false;
  let stopped = false;

  function deliver(changed: string, value: BucketRecord<B> | null, revision: number): void {
    if (stopped) return;
    if (value === null) revisions.delete(changed);
    else revisions.set(changed, revision);
    try {
      callback(changed, value, revision);
    } catch (err) {
      logger.error({ err, bucket: store.bucket, key: changed }, 'bus_watch_callback_failed');
    }
  }

  function onMessage(message: Msg): void {
    events += 1;
    const revision = Number(message.headers?.get('Nats-Sequence') || 0);
    const changed = message.subject.slice(changeSubject(store.bucket, '').length);
    const newer = revision > (revisions.get(changed) ?? 0);
    // A number that does not rise may be the first of a new life: only the bucket itself can tell.
    if (revision === 0 || !newer || message.headers?.get('KV-Operation')) {
      compareSoon();
      return;
    }
    try {
      deliver(changed, store.parse(message.string()), revision);
    } catch (err) {
      logger.warn({ err, bucket: store.bucket, key: changed }, 'bus_record_dropped');
    }
  }

  async function compare(): Promise<void> {
    const { created, state } = await store.info();
    const seen = `${created} ${state.last_seq} ${state.messages}`;
    if (seen === comparedState) return;
    if (String(created) !== life) {
      // What a message told before the first look is of this life as well, and is not told twice.
      if (life !== '') for (const known of revisions.keys()) revisions.set(known, 0);
      life = String(created);
    }
    const before = events;
    const keys = key === '*' ? [...new Set([...(await store.keys()), ...revisions.keys()])] : [key];
    for (const one of keys) await compareKey(one);
    // Changes that came meanwhile may have been left out here; then the next turn compares again.
    if (events === before) comparedState = seen;
  }

  async function compareKey(one: string): Promise<void> {
    const before = events;
    const entry = await store.get(one);
    const known = revisions.get(one);
    if (entry === null) {
      if (known !== undefined && events === before) deliver(one, null, known);
    } else if (known === undefined || entry.revision > known) {
      deliver(one, entry.value, entry.revision);
    }
  }

  function compareSoon(): void {
    again = true;
    if (polling || stopped || !link.up) return;
    polling = true;
    void (async () => {
      while (again && !stopped && link.up) {
        again = false;
        await compare().catch((err: unknown) =>
          logger.debug({ err, bucket: store.bucket }, 'bus_watch_poll_failed'),
        );
      }
      polling = false;
    })();
  }

  const unsubscribe = link.subscribe(changeSubject(store.bucket, key), onMessage);
  const offState = link.onState((up) => up && compareSoon());
  const timer = setInterval(compareSoon, POLL_MS);
  compareSoon();
  return () => {
    stopped = true;
    clearInterval(timer);
    unsubscribe();
    offState();
  };
}
