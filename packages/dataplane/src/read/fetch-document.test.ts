import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockAgent } from 'undici';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createBodyStore } from './body-store.ts';
import { createByteBudget } from './byte-budget.ts';
import { createDocumentFetcher } from './fetch-document.ts';
import { isPublicAddress } from './public-address.ts';

const live = new AbortController().signal;
let folder = '';
let agent: MockAgent;
const budget = createByteBudget({ memory: 1_000, spool: 1_000 });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pagefleet-fetch-'));
  agent = new MockAgent();
  agent.disableNetConnect();
});
afterEach(async () => {
  await agent.close();
  rmSync(folder, { recursive: true });
});

function fetcher(hosts: readonly string[], dispatcher: MockAgent | undefined = agent) {
  const store = createBodyStore({ budget, spoolDir: folder, bootId: 'b' });
  const common = { hosts, store, maxBytes: 100, connectTimeoutMs: 500 };
  return createDocumentFetcher(dispatcher ? { ...common, dispatcher } : common);
}

describe('documents by URL, only where the operator allows it', () => {
  test.each([
    ['https://docs.example.org/a.pdf', []],
    ['https://other.example.org/a.pdf', ['docs.example.org']],
    ['https://docs.example.org.evil.example/a.pdf', ['docs.example.org', '*.example.org']],
    ['http://docs.example.org/a.pdf', ['docs.example.org']],
    ['file:///etc/passwd', ['*']],
    ['https://user:secret@docs.example.org/a.pdf', ['docs.example.org']],
    ['nonsense', ['docs.example.org']],
  ])('%s_is_refused_under_%s', async (url, hosts) => {
    await expect(fetcher(hosts).fetch(url, live)).rejects.toMatchObject({ code: 'bad_request' });
  });

  test('an_allowed_host_is_fetched_and_its_bytes_are_counted', async () => {
    agent.get('https://a.docs.example.org').intercept({ path: '/a.pdf?x=1' }).reply(200, '%PDF');
    const held = await fetcher(['*.docs.example.org']).fetch('https://a.docs.example.org/a.pdf?x=1', live);
    expect(held.size).toBe(4);
    expect(budget.held('memory')).toBe(4);
    held.release();
  });

  test('a_redirect_is_held_to_the_same_rules', async () => {
    const redirect = (location: string) =>
      agent
        .get('https://docs.example.org')
        .intercept({ path: '/a' })
        .reply(302, '', { headers: { location } });
    redirect('https://127.0.0.1/secret');
    await expect(fetcher(['docs.example.org']).fetch('https://docs.example.org/a', live)).rejects.toThrow(
      'does not allow',
    );
    redirect('/b');
    agent.get('https://docs.example.org').intercept({ path: '/b' }).reply(200, 'x');
    const held = await fetcher(['docs.example.org']).fetch('https://docs.example.org/a', live);
    expect(held.size).toBe(1);
    held.release();
  });

  test('a_document_over_the_limit_or_an_error_is_told', async () => {
    const pool = agent.get('https://docs.example.org');
    pool.intercept({ path: '/big' }).reply(200, 'x'.repeat(101));
    pool.intercept({ path: '/none' }).reply(404, '');
    const documents = fetcher(['docs.example.org']);
    await expect(documents.fetch('https://docs.example.org/big', live)).rejects.toMatchObject({
      code: 'payload_too_large',
    });
    await expect(documents.fetch('https://docs.example.org/none', live)).rejects.toThrow('answered 404');
    expect(budget.held('memory')).toBe(0);
  });

  test('a_name_that_means_this_machine_is_never_connected_to', async () => {
    const documents = createDocumentFetcher({
      hosts: ['localhost'],
      store: createBodyStore({ budget, spoolDir: folder, bootId: 'b' }),
      maxBytes: 100,
      connectTimeoutMs: 500,
    });
    await expect(documents.fetch('https://localhost/x', live)).rejects.toThrow('not from a public address');
    await documents.close();
  });

  test.each([
    ['8.8.8.8', true],
    ['2606:4700::1111', true],
    ['127.0.0.1', false],
    ['10.1.2.3', false],
    ['169.254.169.254', false],
    ['100.64.0.1', false],
    ['::1', false],
    ['::ffff:10.0.0.1', false],
    ['fd00::1', false],
    ['fe80::1', false],
    ['nonsense', false],
  ])('%s_is_public:_%s', (address, expected) => {
    expect(isPublicAddress(address)).toBe(expected);
  });
});
