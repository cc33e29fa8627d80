import { readdir } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type GatewayProcess, sleepPage, startGateway, until } from './gateway-process.ts';

const started: GatewayProcess[] = [];
const start = (...options: Parameters<typeof startGateway>): GatewayProcess => {
  const gateway = startGateway(...options);
  started.push(gateway);
  return gateway;
};
afterEach(async () => {
  for (const gateway of started.splice(0)) await gateway.end();
});

describe('a real gateway at its width', () => {
  it('a_flood_runs_the_width_holds_as_many_and_refuses_the_rest (R-017)', async () => {
    const gateway = start({ settings: { width: 8 } });
    await gateway.port();
    const pages = Array.from({ length: 40 }, (_, n) => gateway.read(`page-${n}`, sleepPage(1_500)));
    await until(async () => {
      const { body } = await gateway.ask('GET', '/healthz');
      return body.inflight === 8 && body.waiting === 8;
    }, 'eight run and eight wait');
    const statuses = (await Promise.all(pages)).map((page) => page.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(16);
    expect(statuses.filter((status) => status === 429)).toHaveLength(24);
    expect(gateway.events('page_started')).toHaveLength(16);
    expect(mostAtOnce(gateway)).toBe(8);
  });

  it('a_refusal_reaches_a_sender_that_is_still_sending_a_large_page', async () => {
    const gateway = start({ settings: { width: 2 } });
    await gateway.port();
    const large = Buffer.concat([sleepPage(300), Buffer.alloc(2_000_000)]);
    const pages = Array.from({ length: 20 }, (_, n) => gateway.read(`page-${n}`, large));
    const statuses = (await Promise.all(pages)).map((page) => page.status);
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(4);
    expect(statuses).toContain(429);
  });

  it('health_answers_in_milliseconds_at_full_load (R-041)', async () => {
    const gateway = start({ settings: { width: 32 } });
    await gateway.ask('GET', '/healthz');
    const pages = Array.from({ length: 64 }, (_, n) => gateway.read(`page-${n}`, sleepPage(1_500)));
    const times: number[] = [];
    for (let n = 0; n < 30; n += 1) times.push((await gateway.ask('GET', '/healthz')).ms);
    await Promise.all(pages);
    times.sort((a, b) => a - b);
    expect(times[15]).toBeLessThan(100);
  });

  it.runIf(process.platform === 'linux')(
    'the_pod_sizes_its_threads_from_the_width_it_was_sent (R-043)',
    async () => {
      const narrow = start({ settings: { width: 1 } });
      const wide = start({ settings: { width: 40 } });
      const [few, many] = await Promise.all([threadsOf(narrow), threadsOf(wide)]);
      expect(many - few).toBeGreaterThanOrEqual(39);
    },
  );

  it('neither_health_nor_log_shows_the_token_and_an_unknown_setting_is_named (R-045)', async () => {
    const gateway = start({ env: { PAGEFLEET_POD_FUTURE: '1' } });
    const { body } = await gateway.ask('GET', '/healthz');
    expect(body.unknownSettings).toEqual(['PAGEFLEET_POD_FUTURE']);
    expect(JSON.stringify(gateway.log())).not.toContain('a1a1');
    expect(JSON.stringify(body)).not.toContain('a1a1');
  });

  it.runIf(process.platform === 'linux')('a_full_disk_costs_log_lines_and_not_pages', async () => {
    const gateway = start({ output: '/dev/full' });
    for (let n = 0; n < 5; n += 1) {
      expect((await gateway.read(`page-${n}`, sleepPage(1))).status).toBe(200);
    }
  });
});

/** From the pod's own log: how many readings were open at the same time. */
function mostAtOnce(gateway: GatewayProcess): number {
  let open = 0;
  let most = 0;
  for (const { event } of gateway.log()) {
    if (event === 'page_started') open += 1;
    if (event === 'page_finished') open -= 1;
    most = Math.max(most, open);
  }
  return most;
}

async function threadsOf(gateway: GatewayProcess): Promise<number> {
  await gateway.port();
  return (await readdir(`/proc/${gateway.child.pid}/task`)).length;
}
