import { setTimeout as sleep } from 'node:timers/promises';
import { startFakeRunpod } from '@pagefleet/sim/fake-runpod';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../gateway/gateway-process.ts';
import { startCompanion } from './companion-process.ts';

const SLOW = { tokensPerS: 50, loadedTokensPerS: 100_000, rules: [{ reply: { loop: 'again and ' } }] };

describe('the end of a stock pod', () => {
  test('asked_to_end_it_finishes_its_pages_takes_no_more_and_leaves_nothing', async () => {
    const one = startCompanion({ script: { tokensPerS: 50 } });
    await one.until('ready');
    const page = one.open('last', { max_tokens: 40, stream: true });
    await page.head;
    one.child.kill('SIGTERM');
    await until(() => /pod_ending/.test(one.log()), 'it is ending');
    const late = await one.chat('late');
    expect([late.status, JSON.parse(late.body).code]).toEqual([503, 'stopping']);
    expect((await page.answer).body).toMatch(/\[DONE\]/);
    expect(await one.exited).toBe(0);
    expect(one.alive()).toEqual([]);
  });

  test('shut_down_by_its_owner_it_exits_where_that_is_enough', async () => {
    const one = startCompanion();
    await one.until('ready');
    expect((await one.ask('POST', '/v1/shutdown', { authorization: 'Bearer no' })).status).toBe(401);
    expect((await one.ask('POST', '/v1/shutdown')).status).toBe(202);
    expect(await one.exited).toBe(0);
    expect(one.alive()).toEqual([]);
  });

  test('it_ends_when_nobody_speaks_to_it_and_lives_while_somebody_does (R-044)', async () => {
    const one = startCompanion({ settings: { deadManMs: 1_500 }, script: SLOW });
    for (let n = 0; n < 12; n += 1) {
      await one.health();
      await sleep(250);
    }
    expect(one.child.exitCode).toBeNull();
    // A page inside is its sender speaking.
    const page = one.open('long', { max_tokens: 5_000, stream: true });
    await page.head;
    await sleep(2_500);
    expect(one.child.exitCode).toBeNull();
    page.hangUp();
    const open = await fetch(`http://127.0.0.1:${await one.port()}/healthz`);
    expect(open.status).toBe(200);
    expect(await one.exited).toBe(0);
    expect(one.alive()).toEqual([]);
  });

  test('abandoned_in_a_cloud_it_is_removed_with_its_own_key_until_it_is_gone (R-044)', async () => {
    const fake = await startFakeRunpod({ knobs: { pod: { listen: false, bootMs: 0 } } });
    onTestFinished(() => fake.close());
    const created = await fetch(`${fake.restV2Url}/pods`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${fake.apiKey}`,
        'user-agent': 'test',
      },
      body: JSON.stringify({
        ...{
          name: 'p',
          image: 'vllm/vllm-openai:v0.20.1',
          gpu: { id: 'NVIDIA A40', count: 1 },
          ports: ['8000/tcp'],
        },
      }),
    });
    expect(created.status).toBe(201);
    const { id } = (await created.json()) as { id: string };
    fake.failNext({ api: 'v2', operation: 'DELETE /pods/{id}', status: 503 });
    fake.failNext({ api: 'graphql', operation: 'podTerminate', status: 500 });
    const one = startCompanion({
      settings: {
        podId: id,
        removal: 'runpod',
        apiUrl: fake.restV2Url,
        graphqlUrl: fake.graphqlUrl,
        deadManMs: 1_000,
      },
      env: { RUNPOD_API_KEY: fake.pod(id)?.apiKey ?? '' },
    });
    expect(await one.exited).toBe(0);
    expect(fake.pod(id)?.state).toBe('terminated');
    expect(one.log()).toMatch(/"round": 1, "rest": "unheard", "graphql": "unheard"/);
    expect(one.log()).toMatch(/pod_removed/);
    expect(one.log()).not.toContain(fake.pod(id)?.apiKey ?? '?');
    expect(one.alive()).toEqual([]);
  });

  test('without_a_key_it_says_so_and_stays (R-044)', async () => {
    const one = startCompanion({ settings: { removal: 'runpod', deadManMs: 1_000 } });
    expect((await one.until('ready')).warnings?.[0]).toContain('RUNPOD_API_KEY');
    await until(() => /pod_cannot_remove_itself/.test(one.log()), 'it is abandoned');
    expect(one.child.exitCode).toBeNull();
  });
});
