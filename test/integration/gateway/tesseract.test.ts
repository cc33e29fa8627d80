import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { corpusMissing, corpusPath } from '../../corpus.ts';
import { type GatewayProcess, observeGroup, startGateway, TOKEN, until } from './gateway-process.ts';

const isInstalled = (process.env.PATH ?? '').split(':').some((dir) => existsSync(join(dir, 'tesseract')));
/** What is looked for is told by Linux's list of processes. */
const unable = process.platform === 'linux' ? null : 'there is no /proc here';
const missing = unable ?? (isInstalled ? corpusMissing : 'tesseract is not installed');
const started: GatewayProcess[] = [];
const start = (): GatewayProcess => {
  const gateway = startGateway({ settings: { engine: 'tesseract' } });
  started.push(gateway);
  return gateway;
};
afterEach(async () => {
  for (const gateway of started.splice(0)) await gateway.end();
});

const readers = async (gateway: GatewayProcess): Promise<number> => {
  const group = await observeGroup(gateway.child.pid ?? 0);
  return group.filter(({ command }) => command.includes('tesseract')).length;
};

/** The reading has begun, and it is no short look at the engine's version that runs. */
async function untilReading(gateway: GatewayProcess): Promise<void> {
  await until(() => gateway.events('page_started').length > 0, 'a reading begins');
  await until(async () => (await readers(gateway)) > 0, 'a reader runs');
}

/** What the children of the gateway were told. */
async function environmentsOf(gateway: GatewayProcess): Promise<string> {
  const children = (await observeGroup(gateway.child.pid ?? 0)).filter(
    ({ pid }) => pid !== gateway.child.pid,
  );
  expect(children.length).toBeGreaterThan(1);
  const texts = children.map(({ pid }) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => ''));
  return (await Promise.all(texts)).join();
}

describe.skipIf(missing !== null)(`a real gateway with a real engine${missing ? `: ${missing}` : ''}`, () => {
  it('a_scanned_page_comes_back_as_text', async () => {
    const gateway = start();
    const { status, body } = await gateway.read(
      'page-1',
      await readFile(corpusPath('pages', 'eurotext.png')),
    );
    expect(status).toBe(200);
    const result = JSON.parse(body);
    expect(result.text).toContain('quick');
    expect(result.engine).toMatch(/tesseract/);
    expect(await readers(gateway)).toBe(0);
  });

  it('a_sender_that_hangs_up_ends_the_reader_at_once_which_was_never_told_the_token', async () => {
    const gateway = start();
    const page = await readFile(corpusPath('pages', '8071_093.3B.png'));
    const hangUp = new AbortController();
    const headers = { authorization: `Bearer ${TOKEN}`, 'x-page-id': 'page-1', 'x-owner': 'ours' };
    const url = `http://127.0.0.1:${await gateway.port()}/v1/page`;
    const answer = fetch(url, { method: 'POST', body: new Uint8Array(page), headers, signal: hangUp.signal });
    answer.catch(() => undefined);
    await untilReading(gateway);
    expect(await environmentsOf(gateway)).not.toContain(TOKEN);
    hangUp.abort();
    await until(async () => (await readers(gateway)) === 0, 'no reader runs', 5_000);
    await until(() => gateway.events('page_finished').length === 1, 'the reading is over', 5_000);
    expect(gateway.events('page_finished')).toMatchObject([{ outcome: 'client_gone' }]);
    const { body } = await gateway.ask('GET', '/healthz');
    expect([body.inflight, body.waiting]).toEqual([0, 0]);
  });

  it('a_delete_answers_over_when_the_reader_is_gone', async () => {
    const gateway = start();
    const reading = gateway.read('page-1', await readFile(corpusPath('pages', '8071_093.3B.png')));
    await untilReading(gateway);
    const answer = await gateway.ask('DELETE', '/v1/page/page-1', { authorization: `Bearer ${TOKEN}` });
    expect(answer.body).toEqual({ state: 'over' });
    expect(await readers(gateway)).toBe(0);
    expect((await reading).status).toBe(499);
  });

  it('no_reader_outlives_a_gateway_that_was_killed', async () => {
    const gateway = start();
    const page = await readFile(corpusPath('pages', '8071_093.3B.png'));
    const readings = [gateway.read('page-1', page), gateway.read('page-2', page)];
    for (const reading of readings) reading.catch(() => undefined);
    await untilReading(gateway);
    gateway.child.kill('SIGKILL');
    await gateway.exited;
    await until(
      async () => (await observeGroup(gateway.child.pid ?? 0)).length === 0,
      'nothing is left',
      1_000,
    );
  });
});
