import type { EpochRecord } from '@pagefleet/contract';
import type { Bucket, WriteOutcome } from '@pagefleet/runtime';
import type { Life } from './life.ts';

const HOP = { sendMs: 1, backMs: 1 };
/** until the client gives up on a server that does not answer */
const TIMEOUT = { sendMs: 1, backMs: 2_000 };

type Watcher = (key: string, value: EpochRecord | null, revision: number) => void;

/** NATS, as far as the renting half knows it: the record of who is in charge, and whether the server can be reached. */
export class ControlBus {
  #isUp = true;
  #lastAwayMs = Number.NEGATIVE_INFINITY;
  readonly #records = new Map<string, { value: EpochRecord; revision: number }>();
  readonly #watchers = new Map<Watcher, Life>();
  readonly #watched = new Set<string>();
  /** who was in charge since when, newest last */
  readonly #owners: { controllerId: string; sinceMs: number }[] = [];
  readonly #nowMs: () => number;
  #revision = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  set isUp(isUp: boolean) {
    this.#lastAwayMs = this.#nowMs();
    this.#isUp = isUp;
    // Whoever watches is told what there is now, also that something is lost.
    for (const key of isUp ? this.#watched : []) {
      const held = this.#records.get(key);
      this.#publish(key, held?.value ?? null, held?.revision ?? 0);
    }
  }

  wasAway(sinceMs: number): boolean {
    return !this.#isUp || this.#lastAwayMs >= sinceMs;
  }

  hasRuled(controllerId: string): boolean {
    return this.#owners.some((owner) => owner.controllerId === controllerId);
  }

  /** whether a controller was the newest one at some moment since then */
  wasInCharge(controllerId: string, sinceMs: number): boolean {
    const index = this.#owners.findLastIndex((owner) => owner.controllerId === controllerId);
    if (index === -1) return false;
    return (this.#owners[index + 1]?.sinceMs ?? Number.POSITIVE_INFINITY) >= sinceMs;
  }

  /** The server lost its state. */
  wipe(): void {
    const keys = [...this.#records.keys()];
    this.#records.clear();
    for (const key of keys) this.#publish(key, null, 0);
  }

  bucketOf(life: Life): Bucket<EpochRecord> {
    const away = () => {
      throw new Error('bus_unavailable');
    };
    return {
      get: (key) =>
        life.call(
          'kv',
          () => (this.isUp ? (this.#records.get(key) ?? null) : away()),
          this.isUp ? HOP : TIMEOUT,
        ),
      write: (key, value, expected) =>
        life.call('kv', () => this.#write(key, value, expected), this.isUp ? HOP : TIMEOUT),
      remove: () => Promise.reject(new Error('nobody removes an epoch')),
      keys: () => Promise.resolve([...this.#records.keys()]),
      watch: (key, cb) => {
        this.#watchers.set(cb, life);
        this.#watched.add(key);
        const held = this.#records.get(key);
        if (held !== undefined) life.tell(() => cb(key, held.value, held.revision), 1);
        return () => this.#watchers.delete(cb);
      },
    };
  }

  #write(key: string, value: EpochRecord, expected: number): WriteOutcome {
    if (!this.isUp) return { kind: 'unknown', cause: new Error('no answer') };
    if ((this.#records.get(key)?.revision ?? 0) !== expected) return { kind: 'conflict' };
    this.#revision += 1;
    const revision = this.#revision;
    this.#records.set(key, { value, revision });
    if (this.#owners.at(-1)?.controllerId !== value.controllerId)
      this.#owners.push({ controllerId: value.controllerId, sinceMs: this.#nowMs() });
    this.#publish(key, value, revision);
    return { kind: 'written', revision };
  }

  #publish(key: string, value: EpochRecord | null, revision: number): void {
    if (!this.isUp) return;
    for (const [watcher, life] of this.#watchers) life.tell(() => watcher(key, value, revision), 1);
  }
}
