import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Batch, type Emission } from './batch.ts';

const SPEED = { prefillTokensPerS: 100_000, tokensPerS: 100, loadedTokensPerS: 2_000 };

function sequence(id: string, promptTokens: number, length: number, maxTokens = 1_000) {
  return {
    ...{ id, promptTokens, maxTokens, notBeforeMs: 0 },
    pieceAt: (index: number) => (index < length ? `${id}${index} ` : null),
  };
}

function collect(batch: Batch<string>, untilMs: number): Map<string, Emission<string>> {
  const all = new Map<string, Emission<string>>();
  for (let nowMs = 0; nowMs <= untilMs; nowMs += 20)
    for (const { id, pieces, finished } of batch.advance(nowMs)) {
      expect(all.get(id)?.finished ?? null).toBeNull();
      all.set(id, { id, pieces: [...(all.get(id)?.pieces ?? []), ...pieces], finished });
    }
  return all;
}

test('every sequence gets its own tokens in their order, whatever the cache and the width (R-070)', () => {
  const limits = fc.record({
    maxSequences: fc.integer({ min: 1, max: 8 }),
    kvTokens: fc.integer({ min: 10, max: 400 }),
    maxBatchedTokens: fc.integer({ min: 1, max: 200 }),
  });
  const asked = fc.array(fc.tuple(fc.integer({ min: 1, max: 90 }), fc.integer({ min: 0, max: 30 })), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(limits, asked, (limit, sequences) => {
      const batch = new Batch<string>(limit, SPEED);
      sequences.forEach(([prompt, length], at) => void batch.add(sequence(`s${at}.`, prompt, length), 0));
      const got = collect(batch, 60_000);
      sequences.forEach(([, length], at) => {
        const pieces = Array.from({ length }, (_, index) => `s${at}.${index} `);
        expect(got.get(`s${at}.`)).toEqual({ id: `s${at}.`, pieces, finished: 'stop' });
      });
      expect([batch.running, batch.waiting, batch.kvUsage]).toEqual([0, 0, 0]);
      expect(batch.maxRunning).toBeLessThanOrEqual(limit.maxSequences);
    }),
    { numRuns: 60 },
  );
});

test('as many run as may, the rest wait without a bound', () => {
  const batch = new Batch<string>({ maxSequences: 64, kvTokens: 1e9, maxBatchedTokens: 8_192 }, SPEED);
  for (let at = 0; at < 512; at += 1) batch.add(sequence(`s${at}.`, 10, 5), 0);
  expect([batch.running, batch.waiting]).toEqual([64, 448]);
});

test('a full cache throws out the youngest, which is read again and loses nothing', () => {
  const batch = new Batch<string>({ maxSequences: 8, kvTokens: 60, maxBatchedTokens: 100 }, SPEED);
  batch.add(sequence('old.', 20, 30), 0);
  batch.add(sequence('young.', 20, 5), 0);
  const got = collect(batch, 5_000);
  expect(batch.preemptions).toBe(0);
  expect(got.get('young.')?.finished).toBe('stop');

  const tight = new Batch<string>({ maxSequences: 8, kvTokens: 60, maxBatchedTokens: 100 }, SPEED);
  tight.add(sequence('old.', 20, 30), 0);
  tight.add(sequence('young.', 20, 30), 0);
  const both = collect(tight, 5_000);
  expect(tight.preemptions).toBeGreaterThan(0);
  expect(both.get('young.')?.pieces).toHaveLength(30);
  expect(both.get('old.')?.pieces).toHaveLength(30);
});

test('a budget ends a reply with length, also where the text would end there too', () => {
  const batch = new Batch<string>({ maxSequences: 8, kvTokens: 1e6, maxBatchedTokens: 100 }, SPEED);
  batch.add(sequence('cut.', 5, 50, 7), 0);
  batch.add(sequence('even.', 5, 7, 7), 0);
  const got = collect(batch, 2_000);
  expect(got.get('cut.')).toMatchObject({ finished: 'length', pieces: { length: 7 } });
  expect(got.get('even.')?.finished).toBe('length');
});

test('an aborted sequence frees its place at once and tells what it had got', () => {
  const batch = new Batch<string>({ maxSequences: 1, kvTokens: 1e6, maxBatchedTokens: 100 }, SPEED);
  batch.add(sequence('a.', 5, 1_000), 0);
  batch.add(sequence('b.', 5, 3), 0);
  const before = batch.advance(200).find(({ id }) => id === 'a.')?.pieces.length ?? 0;
  expect(before).toBeGreaterThan(0);
  expect(batch.abort('a.')).toBe(before);
  expect([batch.running, batch.waiting]).toEqual([1, 0]);
});

test('a held first token comes at its time and the others do not wait for it', () => {
  const batch = new Batch<string>({ maxSequences: 8, kvTokens: 1e6, maxBatchedTokens: 100 }, SPEED);
  batch.add({ ...sequence('slow.', 5, 3), notBeforeMs: 1_000 }, 0);
  batch.add(sequence('quick.', 5, 3), 0);
  const early = collect(batch, 980);
  expect(early.get('quick.')?.finished).toBe('stop');
  expect(early.has('slow.')).toBe(false);
  let slow = 0;
  for (let nowMs = 1_000; nowMs < 1_200; nowMs += 20)
    for (const { pieces } of batch.advance(nowMs)) slow += pieces.length;
  expect(slow).toBe(3);
});
