import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createPodClient } from './pod-client.ts';
import type { PodEntry } from './pod-table.ts';
import { createPageSender } from './send-page.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Sends a page to a pod that answers so, and tells what was counted. */
async function countedOf(status: number, headers: Record<string, string>): Promise<string[]> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status, headers).end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createPodClient({ url, token: 't' }, { connections: 1, connectTimeoutMs: 1_000 });
  closers.push(async () => {
    await client.destroy();
    server.close();
  });
  const counted: string[] = [];
  const send = createPageSender({
    readingAsked: (pool, count) => void (count > 0 && counted.push(`${pool} asked ${count}`)),
    readingRejected: (pool, why, tokens) => void counted.push(`${pool} ${why} ${tokens}`),
  });
  const body = { place: 'memory', chunks: [Buffer.from('x')], size: 1, release: () => undefined } as const;
  const pod = { id: 'a', pool: 'gpu', token: 't', url, client } as unknown as PodEntry;
  const { signal } = new AbortController();
  const dispatch = { id: 'p', reading: 'p', clusterId: 'us', requestId: 'r', timeoutMs: 5_000, pod, signal };
  await send({ body, kind: 'png', options: {} }, dispatch);
  return counted;
}

describe('what a pod tells of the requests by which it read a page (R-071)', () => {
  test.each([200, 422])('is_counted_for_its_pool_with_status_%i', async (status) => {
    const told = { 'x-page-readings': 'asked=3, looped=2000, looped=2500' };
    expect(await countedOf(status, told)).toEqual(['gpu asked 3', 'gpu looped 2000', 'gpu looped 2500']);
  });

  test.each([{}, { 'x-page-readings': 'a lot' }])(
    'and_nothing_where_it_tells_nothing %j',
    async (headers) => {
      expect(await countedOf(200, headers as Record<string, string>)).toEqual([]);
    },
  );
});
