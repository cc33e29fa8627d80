import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { companionCommand, createRunpodProvider, type Provider } from '@pagefleet/providers';
import { createLogger, isSameProcess } from '@pagefleet/runtime';
import { type FakeRunpod, startFakeRunpod } from '@pagefleet/sim/fake-runpod';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../gateway/gateway-process.ts';
import { A40, A40_SPOT, order } from '../runpod/runpod-account.ts';
import { isAlive, MODEL } from './companion-process.ts';

const IMAGE = 'vllm/vllm-openai:v0.20.1';
const QUICK = { pod: { bootMs: 0, listenerDelayMs: 0 } };

async function openFake(stateDir: string): Promise<{ fake: FakeRunpod; provider: Provider }> {
  const fake = await startFakeRunpod({ stateDir, knobs: QUICK });
  const provider = createRunpodProvider({
    ...{ apiKey: fake.apiKey, restUrl: fake.restV2Url, graphqlUrl: fake.graphqlUrl, graphqlHourlyBudget: 0 },
    ...{ stateDir: join(stateDir, 'provider'), logger: createLogger({ component: 'test', level: 'silent' }) },
  });
  return { fake, provider };
}

function stockOrder(fake: FakeRunpod, offer = A40) {
  const { entrypoint, cmd } = companionCommand();
  const request = order({ offer, image: IMAGE, entrypoint, startCommand: cmd, transport: 'plain-tcp' });
  const { graphqlUrl, restV2Url: apiUrl } = fake;
  return {
    ...request,
    settings: {
      ...request.settings,
      ...{ engine: 'surya' as const, transport: 'plain' as const, apiUrl, graphqlUrl },
      serverCommand: ['vllm', 'serve', 'some/model', '--served-model-name', MODEL],
    },
  };
}

function makeFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'stock-pods-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** null: the pod itself does not answer yet; before it does, the provider's proxy answers in its place. */
async function engineOf(url: string | null): Promise<string | null> {
  const answer = await fetch(`${url}/healthz`).catch(() => null);
  return answer?.ok ? ((await answer.json()) as { engine: string }).engine : null;
}

/** Of the simulated vLLM in the pod's folder. */
function serversIn(stateDir: string, podId: string): number[] {
  const text = readFileSync(join(stateDir, 'pods', podId, 'starts.ndjson'), 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).pid);
}

describe('a pod on a stock image, rented from the fake RunPod (decision 0012)', () => {
  test.each([
    ['REST v2', A40],
    ['GraphQL, as spot', A40_SPOT],
  ])('runs_the_command_that_was_sent_by %s,_serves_and_ends_with_its_pod', async (_name, offer) => {
    const stateDir = makeFolder();
    const { fake, provider } = await openFake(stateDir);
    onTestFinished(async () => {
      await provider.close();
      await fake.close({ endProcesses: true });
    });
    const request = stockOrder(fake, offer);
    const outcome = await provider.rent(request);
    if (outcome.kind !== 'rented') throw new Error(JSON.stringify(outcome));
    const { id } = outcome.pod;
    let url: string | null = null;
    await until(async () => {
      const listed = (await provider.list()).find((pod) => pod.id === id);
      url = listed?.url ?? null;
      return (await engineOf(url)) === 'ready';
    }, 'the pod is ready');
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${request.settings.token}`, 'content-type': 'application/json' },
        ...{ 'x-page-id': 'p1', 'x-owner': request.mark.clusterId },
      },
      body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'hello' }] }),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('simulated')]);
    const { process } = fake.pod(id) ?? {};
    const [server = 0] = serversIn(stateDir, id);
    expect(isAlive(server)).toBe(true);
    await provider.terminate(id);
    await until(async () => process != null && !(await isSameProcess(process)), 'its process is gone');
    await until(() => !isAlive(server), 'its model server is gone');
  });

  test('outlives_the_fake_is_found_again_and_is_ended_by_it', async () => {
    const stateDir = makeFolder();
    const before = await openFake(stateDir);
    const outcome = await before.provider.rent(stockOrder(before.fake));
    if (outcome.kind !== 'rented') throw new Error(JSON.stringify(outcome));
    const { id } = outcome.pod;
    await until(async () => {
      const { url = null } = (await before.provider.list()).find((pod) => pod.id === id) ?? {};
      return (await engineOf(url)) === 'ready';
    }, 'the pod is ready');
    const { process, ports } = before.fake.pod(id) ?? {};
    await before.provider.close();
    await before.fake.close();
    expect(process != null && (await isSameProcess(process))).toBe(true);

    const after = await openFake(stateDir);
    onTestFinished(async () => {
      await after.provider.close();
      await after.fake.close({ endProcesses: true });
    });
    expect(after.fake.pod(id)).toMatchObject({ process, ports });
    expect(readdirSync(join(stateDir, 'pods', id))).toContain('process.json');
    await after.fake.settled();
    await after.provider.terminate(id);
    await until(async () => process != null && !(await isSameProcess(process)), 'its process is gone');
    expect(serversIn(stateDir, id).filter(isAlive)).toEqual([]);
  });

  test('a_listing_shows_its_command_and_no_secret_in_it (R-025)', async () => {
    const stateDir = makeFolder();
    const { fake, provider } = await openFake(stateDir);
    onTestFinished(async () => {
      await provider.close();
      await fake.close({ endProcesses: true });
    });
    const request = stockOrder(fake);
    const outcome = await provider.rent(request);
    if (outcome.kind !== 'rented') throw new Error(JSON.stringify(outcome));
    const { entrypoint = [], cmd = [], dockerArgs } = fake.pod(outcome.pod.id)?.request ?? {};
    expect([entrypoint, cmd]).toEqual([['python3'], companionCommand().cmd]);
    expect(dockerArgs).not.toContain(request.settings.token);
    expect(JSON.stringify(outcome.pod)).not.toContain(request.settings.token);
  });
});
