import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { connectServer } from './server-connection.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function factsOf(status: number, models: string) {
  const server = createServer((request, response) => {
    if (request.url === '/v1/models') response.writeHead(status).end(models);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const connection = connectServer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 1);
  closers.push(async () => {
    await connection.close();
    server.close();
  });
  return await connection.facts(new AbortController().signal);
}

test('what_a_server_serves_is_asked_of_it', async () => {
  const models = JSON.stringify({ data: [{ id: 'a', max_model_len: 100 }, { id: 'lora' }] });
  expect(await factsOf(200, models)).toEqual({ models: ['a', 'lora'], maxModelLen: 100, version: '' });
});

test.each([
  [404, '', 'it answers /v1/models with 404'],
  [200, '<html>', 'its answer to /v1/models is no JSON'],
  [200, '{"id":"x","choices":[]}', 'no list of models'],
  [200, 'null', 'no list of models'],
  [200, '{"data":[{"name":"x"}]}', 'no list of models'],
])(
  'a_program_that_is_no_model_server_is_a_fault_of_the_settings: %i %s (R-040)',
  async (status, body, words) => {
    await expect(factsOf(status, body)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(words),
    });
  },
);
