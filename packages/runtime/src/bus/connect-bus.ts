import { type BucketName, PagefleetError, SUBJECTS, type SubjectName, subjectFor } from '@pagefleet/contract';
import type { Logger } from '../logger.ts';
import type { Bucket } from './bucket.ts';
import { createBucket } from './create-bucket.ts';
import { NatsLink } from './nats-link.ts';
import { type BucketRecord, type SubjectRecord, subjectValidator } from './validators.ts';

export interface BusOptions {
  readonly url: string;
  readonly credentialsFile: string;
  /** shown in the server's list of connections */
  readonly name: string;
  readonly logger: Logger;
}

/** Typed messages and buckets over NATS. Nothing that money hangs on goes this way. */
export interface Bus {
  connected(): boolean;
  onState(cb: (connected: boolean) => void): () => void;
  /** false, and nothing sent, while disconnected: an old snapshot must not arrive after a newer one */
  publish<N extends SubjectName>(name: N, key: string, record: SubjectRecord<N>): boolean;
  /** Messages that do not fit their schema are logged and dropped. Survives reconnects. */
  subscribe<N extends SubjectName>(name: N, cb: (key: string, record: SubjectRecord<N>) => void): () => void;
  bucket<B extends BucketName>(name: B): Bucket<BucketRecord<B>>;
  close(): Promise<void>;
}

/** What we send ourselves is checked only in tests; what comes in is checked always. */
const CHECK_OUTGOING = process.env.VITEST !== undefined;

/** Resolves at once, whether NATS is there or not; it connects as soon as it can and again after every loss. */
export async function connectBus(options: BusOptions): Promise<Bus> {
  const { logger } = options;
  const link = new NatsLink(options);
  const buckets = new Map<BucketName, { close(): void }>();
  link.start();

  return {
    connected: () => link.up,
    onState: (cb) => link.onState(cb),
    publish(name, key, record) {
      if (CHECK_OUTGOING) {
        const problem = subjectValidator(name)(record);
        if (problem) throw new PagefleetError('internal', `A ${name} to send is wrong: ${problem}`);
      }
      try {
        link.connection?.publish(subjectFor(name, key), JSON.stringify(record));
      } catch (err) {
        logger.error({ err, subject: name, key }, 'bus_publish_failed');
        return false;
      }
      return link.up;
    },
    subscribe(name, cb) {
      const prefix = SUBJECTS[name].subject.replace('*', '');
      return link.subscribe(SUBJECTS[name].subject, (message) => {
        const record = readRecord(message.string(), subjectValidator(name));
        if (record.problem !== null) {
          return logger.warn({ subject: message.subject, problem: record.problem }, 'bus_record_dropped');
        }
        try {
          cb(message.subject.slice(prefix.length), record.value as never);
        } catch (err) {
          logger.error({ err, subject: message.subject }, 'bus_callback_failed');
        }
      });
    },
    bucket(name) {
      const known = buckets.get(name);
      if (known) return known as never;
      const bucket = createBucket(link, name, logger);
      buckets.set(name, bucket);
      return bucket;
    },
    async close() {
      for (const bucket of buckets.values()) bucket.close();
      await link.close();
    },
  };
}

function readRecord(
  text: string,
  validate: (value: unknown) => string | null,
): { value: unknown; problem: string | null } {
  try {
    const value: unknown = JSON.parse(text);
    return { value, problem: validate(value) };
  } catch {
    return { value: null, problem: 'is not JSON' };
  }
}
