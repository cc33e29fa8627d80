import { mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeProof } from '@pagefleet/runtime';
import { afterAll, describe, expect, it } from 'vitest';
import { type GatewayProcess, sleepPage, startGateway, TOKEN, until } from './gateway-process.ts';

const started: GatewayProcess[] = [];
const start = (...options: Parameters<typeof startGateway>): GatewayProcess => {
  const gateway = startGateway(...options);
  started.push(gateway);
  return gateway;
};
afterAll(async () => {
  for (const gateway of started) await gateway.end();
});

const exitReason = async (gateway: GatewayProcess): Promise<string> =>
  JSON.parse(await readFile(join(gateway.dir, 'exit'), 'utf8')).reason;

// Each waits for the end of a gateway of its own.
describe('the end of a real gateway', { concurrent: true }, () => {
  it('a_signal_lets_what_runs_finish', async () => {
    const gateway = start();
    await gateway.port();
    const page = gateway.read('page-1', sleepPage(6_000));
    await until(() => gateway.events('page_started').length === 1, 'the page runs');
    gateway.child.kill('SIGTERM');
    await until(() => gateway.events('pod_ending').length === 1, 'the pod ends');
    expect((await gateway.read('late', sleepPage(1))).body).toContain('stopping');
    expect((await page).status).toBe(200);
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect(await exitReason(gateway)).toBe('SIGTERM');
  });

  it('its_owner_may_ask_it_to_end_and_its_pages_are_finished_first', async () => {
    const gateway = start();
    await gateway.port();
    const page = gateway.read('page-1', sleepPage(6_000));
    await until(() => gateway.events('page_started').length === 1, 'the page runs');
    const answer = await gateway.ask('POST', '/v1/shutdown', { authorization: `Bearer ${TOKEN}` });
    expect(answer.status).toBe(202);
    expect((await page).status).toBe(200);
    expect((await gateway.exited).code).toBe(0);
    expect(await exitReason(gateway)).toBe('shutdown');
  });

  it('the_end_of_a_terminal_is_not_the_end_of_the_pod', async () => {
    const gateway = start();
    await gateway.port();
    gateway.child.kill('SIGHUP');
    await sleep(100);
    expect((await gateway.ask('GET', '/healthz')).status).toBe(200);
  });

  it('a_pod_that_nobody_speaks_to_ends_itself (R-044)', async () => {
    const gateway = start({ settings: { deadManMs: 3_000 } });
    await gateway.port();
    const exit = await Promise.race([gateway.exited, sleep(40_000)]);
    expect(exit).toEqual({ code: 0, signal: null });
    expect(gateway.events('dead_man')).toHaveLength(1);
    expect(await exitReason(gateway)).toBe('dead_man');
  });

  it('a_probe_with_the_owners_proof_keeps_the_pod_and_one_without_does_not (R-044)', async () => {
    const gateway = start({ settings: { deadManMs: 6_000 } });
    const proof = { 'x-pagefleet-nonce': 'n', 'x-pagefleet-owner-proof': makeProof(TOKEN, 'owner', 'n') };
    await gateway.port();
    for (let n = 0; n < 25; n += 1) {
      await sleep(300);
      expect((await gateway.ask('GET', '/healthz', proof)).status).toBe(200);
    }
    const silentFromMs = performance.now();
    while (gateway.child.exitCode === null && performance.now() - silentFromMs < 25_000) {
      await gateway.ask('GET', '/healthz').catch(() => undefined);
      await sleep(100);
    }
    expect(gateway.events('dead_man')).toHaveLength(1);
  });

  it('a_page_that_is_being_read_is_hearing_from_the_owner', async () => {
    const gateway = start({ settings: { deadManMs: 6_000 } });
    expect((await gateway.read('page-1', sleepPage(9_000))).status).toBe(200);
    await gateway.exited;
    expect(await exitReason(gateway)).toBe('dead_man');
  });

  it('a_pod_whose_folder_was_removed_ends_itself_because_nobody_can_find_it', async () => {
    const gateway = start({ settings: { deadManMs: 20_000 } });
    await gateway.port();
    renameSync(gateway.dir, `${gateway.dir}-away`);
    expect((await gateway.exited).code).toBe(0);
    await rm(`${gateway.dir}-away`, { recursive: true });
  });

  it('a_pod_that_was_ended_before_it_started_does_not_serve', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'gateway-'));
    writeFileSync(join(dir, 'exit'), '');
    const gateway = start({ dir });
    expect((await gateway.exited).code).toBe(0);
    expect(gateway.events('pod_serving')).toHaveLength(0);
    await expect(stat(join(dir, 'port'))).rejects.toThrow('ENOENT');
    expect(JSON.parse(await readFile(join(dir, 'process.json'), 'utf8')).pid).toBe(gateway.child.pid);
  });

  it('settings_that_are_wrong_end_the_pod_and_are_named_without_their_values', async () => {
    const gateway = start({ settings: { engine: 'tesseract', dpi: 7 } });
    expect((await gateway.exited).code).toBe(1);
    const log = await readFile(join(gateway.dir, 'log'), 'utf8');
    expect(log).toContain('PAGEFLEET_POD_DPI');
    expect(log).not.toContain(TOKEN);
  });
});
