import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createCutWriter } from './cut-writer.ts';

/** What a writer hands to its connection, write by write. */
async function writesOf(share: number, seed: string, texts: readonly string[]): Promise<Buffer[]> {
  const writes: Buffer[] = [];
  const response = { destroyed: false, write: (bytes: Buffer) => writes.push(Buffer.from(bytes)), end() {} };
  const writer = createCutWriter(response as unknown as ServerResponse, { share, seed });
  for (const text of texts) {
    writer.write(text);
    await turn();
  }
  writer.end();
  return writes;
}

const EVENTS = Array.from({ length: 60 }, (_, at) => `data: {"n":${at},"text":"東京"}\n\n`);

test('events are cut at any byte, inside of letters too, and nothing is lost', async () => {
  const writes = await writesOf(1, 'a', EVENTS);
  expect(writes).toHaveLength(2 * EVENTS.length);
  expect(Buffer.concat(writes).toString('utf8')).toBe(EVENTS.join(''));
  expect(writes.some((bytes) => bytes.toString('utf8').includes('\uFFFD'))).toBe(true);
});

test('the same seed cuts at the same places, another one elsewhere', async () => {
  const lengths = async (seed: string) => (await writesOf(0.5, seed, EVENTS)).map(({ length }) => length);
  expect(await lengths('a')).toEqual(await lengths('a'));
  expect(await lengths('a')).not.toEqual(await lengths('b'));
});

test('without a share every event is one write', async () => {
  expect(await writesOf(0, 'a', EVENTS)).toHaveLength(EVENTS.length);
});
