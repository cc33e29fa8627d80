import { setTimeout as sleep } from 'node:timers/promises';
import type { EpochRecord } from '@pagefleet/contract';
import { type Bucket, type Bus, connectBus, createLogger, monotonicMs } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startNats, type TestNats } from '../nats-server.ts';

const logger = createLogger({ component: 'test', level: 'error' });
let nats: TestNats;
let bus: Bus;
let bucket: Bucket<EpochRecord>;
/** what the watcher was told: `key=epoch` or `key=gone` */
let told: string[];

beforeEach(async () => {
  nats = await startNats();
  bus = await connectBus({ url: nats.url, credentialsFile: nats.credentialsFile, name: 'test', logger });
  bucket = bus.bucket('control');
  told = [];
  await until(() => bus.connected());
});
afterEach(async () => {
  await bus.close();
  await nats.stop();
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

const epoch = (n: number): EpochRecord => ({ v: 1, epoch: n, controllerId: 'c', atMs: n });
const watch = (key: string) =>
  bucket.watch(key, (changed, value) => told.push(`${changed}=${value === null ? 'gone' : value.epoch}`));

describe('watching a bucket', () => {
  it('tells_the_present_value_first_then_each_newer_one_at_once', async () => {
    await bucket.write('epoch', epoch(1), 0);
    watch('epoch');
    await until(() => told.length === 1);
    await sleep(100);
    const startedMs = monotonicMs();
    await bucket.write('epoch', epoch(2), 1);
    await until(() => told.length === 2);
    expect(monotonicMs() - startedMs).toBeLessThan(1_500);
    expect(told).toEqual(['epoch=1', 'epoch=2']);
  });

  it('tells_only_of_the_key_that_was_asked_for', async () => {
    watch('a');
    await bucket.write('b', epoch(1), 0);
    await bucket.write('a', epoch(2), 0);
    await until(() => told.length > 0);
    await sleep(100);
    expect(told).toEqual(['a=2']);
  });

  it('with_a_star_tells_of_every_key_and_of_removals', async () => {
    await bucket.write('a', epoch(1), 0);
    watch('*');
    await until(() => told.includes('a=1'));
    await bucket.write('b', epoch(2), 0);
    await until(() => told.includes('b=2'));
    await bucket.remove('a');
    await until(() => told.includes('a=gone'));
    expect(told).toEqual(['a=1', 'b=2', 'a=gone']);
  });

  it('says_nothing_of_a_key_that_was_never_there', async () => {
    watch('epoch');
    await sleep(300);
    expect(told).toEqual([]);
  });

  it('catches_up_with_what_happened_while_it_was_disconnected', async () => {
    await bucket.write('epoch', epoch(1), 0);
    const other = await connectBus({
      url: nats.url,
      credentialsFile: nats.credentialsFile,
      name: 'o',
      logger,
    });
    watch('epoch');
    await until(() => told.length === 1);
    await nats.restart();
    await until(() => other.connected());
    const written = await other.bucket('control').write('epoch', epoch(2), 1);
    expect(written.kind).toBe('written');
    await until(() => told.includes('epoch=2'));
    await other.close();
    expect(told).toEqual(['epoch=1', 'epoch=2']);
  });

  it('goes_on_after_the_bucket_was_deleted', async () => {
    await bucket.write('epoch', epoch(1), 0);
    watch('epoch');
    await until(() => told.length === 1);
    await nats.send('$JS.API.STREAM.DELETE.KV_pagefleet_control', '', 'answer');
    await until(() => told.includes('epoch=gone'));
    expect((await bucket.write('epoch', epoch(3), 0)).kind).toBe('written');
    await until(() => told.includes('epoch=3'));
    expect(told).toEqual(['epoch=1', 'epoch=gone', 'epoch=3']);
  });

  it('goes_on_with_a_server_of_empty_state_although_revisions_start_anew', async () => {
    for (let n = 1; n <= 5; n += 1) await bucket.write('epoch', epoch(n), n - 1);
    watch('epoch');
    await until(() => told.includes('epoch=5'));
    told.length = 0;
    await nats.restart({ emptyState: true });
    await until(() => bus.connected());
    expect(await bucket.write('epoch', epoch(9), 0)).toEqual({ kind: 'written', revision: 1 });
    await until(() => told.includes('epoch=9'));
    expect(told.at(-1)).toBe('epoch=9');
  });

  it('finds_by_comparing_what_no_message_told', async () => {
    await bucket.write('epoch', epoch(1), 0);
    watch('epoch');
    await until(() => told.length === 1);
    // A purge by hand is no write: the server repeats nothing.
    await nats.send('$JS.API.STREAM.PURGE.KV_pagefleet_control', '', 'answer');
    await until(() => told.includes('epoch=gone'));
  });

  it('a_record_that_does_not_fit_is_not_told_and_the_next_one_is', async () => {
    watch('epoch');
    // Only a bucket that exists answers.
    expect(await bucket.keys()).toEqual([]);
    await nats.send('$KV.pagefleet_control.epoch', '{"v":2}', 'answer');
    await expect(bucket.get('epoch')).rejects.toMatchObject({ code: 'bus_unavailable' });
    await bucket.write('epoch', epoch(4), 1);
    await until(() => told.length > 0);
    expect(told).toEqual(['epoch=4']);
  });

  it('tells_every_step_of_a_fast_writer_in_order_up_to_the_last', async () => {
    watch('epoch');
    await sleep(100);
    for (let n = 1; n <= 200; n += 1) await bucket.write('epoch', epoch(n), n - 1);
    await until(() => told.includes('epoch=200'));
    await sleep(100);
    const numbers = told.map((text) => Number(text.split('=')[1]));
    expect(numbers).toEqual([...numbers].sort((x, y) => x - y));
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(told.at(-1)).toBe('epoch=200');
  });

  it('a_stopped_watch_tells_nothing_more', async () => {
    const stop = watch('epoch');
    await sleep(100);
    stop();
    await bucket.write('epoch', epoch(1), 0);
    await sleep(200);
    expect(told).toEqual([]);
  });
});
