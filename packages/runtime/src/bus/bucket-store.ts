import {
  JetStreamApiCodes,
  JetStreamApiError,
  jetstream,
  jetstreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { errors, headers, type NatsConnection } from '@nats-io/transport-node';
import { BUCKETS, type BucketName, PagefleetError } from '@pagefleet/contract';
import type { WriteOutcome } from './bucket.ts';
import { type NatsLink, REQUEST_TIMEOUT_MS } from './nats-link.ts';
import { type BucketRecord, bucketValidator } from './validators.ts';

/** Where the server repeats every stored change as a plain message: `<prefix>.<bucket>.<key>`. */
export function changeSubject(bucket: string, key: string): string {
  return `pagefleet.changed.${bucket}.${key}`;
}

const KEY = /^[A-Za-z0-9_-]+$/;
const CONFLICTS: readonly number[] = [
  JetStreamApiCodes.StreamWrongLastSequence,
  JetStreamApiCodes.StreamWrongLastSequenceUnknown,
];

/** Reading and writing of one bucket over one link, without watching. */
export class BucketStore<B extends BucketName> {
  readonly bucket: string;
  readonly #link: NatsLink;
  readonly #name: B;
  /** forgotten when the connection goes and when the server says that the stream is gone */
  #opened: { connection: NatsConnection; kv: Promise<KV> } | null = null;

  constructor(link: NatsLink, name: B) {
    this.#link = link;
    this.#name = name;
    this.bucket = BUCKETS[name].bucket;
    // A connection object outlives its reconnects; an answer that was under way when it broke does not.
    link.onState(() => {
      this.#opened = null;
    });
  }

  async get(key: string): Promise<{ value: BucketRecord<B>; revision: number } | null> {
    checkKey(key);
    const entry = await this.#attempt((kv) => kv.get(key));
    if (entry === null || entry.operation !== 'PUT') return null;
    return { value: this.parse(entry.string()), revision: entry.revision };
  }

  async write(key: string, value: BucketRecord<B>, expected: number): Promise<WriteOutcome> {
    checkKey(key);
    const problem = bucketValidator(this.#name)(value);
    if (problem)
      throw new PagefleetError('internal', `A record for ${this.bucket}/${key} is wrong: ${problem}`);
    const text = JSON.stringify(value);
    try {
      const revision = await this.#attempt((kv) =>
        kv.put(key, text, { previousSeq: expected, timeout: REQUEST_TIMEOUT_MS }),
      );
      return { kind: 'written', revision };
    } catch (cause) {
      return isConflict(cause) ? { kind: 'conflict' } : { kind: 'unknown', cause };
    }
  }

  /** Erases the key with its history, so that `expected: 0` fits again, and tells watchers, which see no deletion. */
  async remove(key: string): Promise<void> {
    checkKey(key);
    await this.#attempt(async (_kv, connection) => {
      const manager = await jetstreamManager(connection, { checkAPI: false });
      await manager.streams.purge(`KV_${this.bucket}`, { filter: `$KV.${this.bucket}.${key}` });
      connection.publish(changeSubject(this.bucket, key), '', { headers: headers() });
    });
  }

  async keys(): Promise<string[]> {
    const prefix = `$KV.${this.bucket}.`;
    const info = await this.info(`${prefix}*`);
    return Object.keys(info.state.subjects ?? {}).map((subject) => subject.slice(prefix.length));
  }

  /** State of the stream behind the bucket; `created` tells one life of the bucket from the next. */
  info(subjects?: string): Promise<StreamInfo> {
    return this.#attempt(async (_kv, connection) => {
      const manager = await jetstreamManager(connection, { checkAPI: false });
      return manager.streams.info(`KV_${this.bucket}`, subjects ? { subjects_filter: subjects } : undefined);
    });
  }

  parse(text: string): BucketRecord<B> {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      throw new PagefleetError('bus_unavailable', `A record of ${this.bucket} is not JSON.`, { cause });
    }
    const problem = bucketValidator(this.#name)(value);
    if (problem)
      throw new PagefleetError('bus_unavailable', `A record of ${this.bucket} does not fit: ${problem}`);
    return value as BucketRecord<B>;
  }

  /** Once more with a bucket made anew when it turns out to be gone: a server that lost its state is no failure. */
  async #attempt<R>(run: (kv: KV, connection: NatsConnection) => Promise<R>): Promise<R> {
    const once = () =>
      this.#link.request(async (connection) => run(await this.#open(connection), connection));
    try {
      return await once();
    } catch (error) {
      if (!isBucketGone(error)) throw asUnavailable(error);
    }
    this.#opened = null;
    try {
      return await once();
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  #open(connection: NatsConnection): Promise<KV> {
    if (this.#opened?.connection === connection) return this.#opened.kv;
    const kv = new Kvm(jetstream(connection, { timeout: REQUEST_TIMEOUT_MS })).create(this.bucket, {
      replicas: 1,
      history: 1,
      allow_direct: false,
      republish: { src: `$KV.${this.bucket}.>`, dest: changeSubject(this.bucket, '>') },
    });
    const opened = { connection, kv };
    this.#opened = opened;
    kv.catch(() => {
      if (this.#opened === opened) this.#opened = null;
    });
    return kv;
  }
}

export function checkKey(key: string): void {
  if (!KEY.test(key))
    throw new PagefleetError('internal', `"${key}" cannot be a key: letters, digits, _ and - only.`);
}

function isConflict(error: unknown): boolean {
  return rootCauses(error).some(
    (cause) => cause instanceof JetStreamApiError && CONFLICTS.includes(cause.code),
  );
}

/** The stream is not found, or nobody listens on its subject, which is the same. */
function isBucketGone(error: unknown): boolean {
  return rootCauses(error).some(
    (cause) =>
      cause instanceof errors.NoRespondersError ||
      (cause instanceof JetStreamApiError && cause.code === JetStreamApiCodes.StreamNotFound),
  );
}

function asUnavailable(error: unknown): unknown {
  if (error instanceof PagefleetError || isConflict(error)) return error;
  return new PagefleetError('bus_unavailable', 'NATS could not do what was asked.', { cause: error });
}

function rootCauses(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let at: unknown = error; at instanceof Error && causes.length < 8; at = at.cause) causes.push(at);
  return causes;
}
