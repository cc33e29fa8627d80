import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { podSettings } from '@pagefleet/gateway/test-kit';
import { encodePodSettings, isSameProcess, programPath, realNodeBinary } from '@pagefleet/runtime';
import { type FakeRunpod, startFakeRunpod } from '@pagefleet/sim/fake-runpod';
import { afterEach, describe, expect, it } from 'vitest';
import { type Client, clientOf, startClient } from './fake-client.ts';

const QUICK = { pod: { bootMs: 0, listenerDelayMs: 0 } };

/** What a controller sends: everything but the id, and what is of the machine. */
function podEnv(
  changes: { removal?: 'exit' | 'runpod'; apiUrl?: string; graphqlUrl?: string; deadManMs?: number } = {},
) {
  const told = podSettings({ host: '0.0.0.0', deadManMs: 600_000, ...changes });
  return encodePodSettings({ ...told, podId: null });
}

async function rentGateway(client: Client, env = podEnv()): Promise<string> {
  const created = await client.create({
    image: 'ghcr.io/acme/pagefleet/gateway:1',
    ports: ['8000/tcp'],
    env,
  });
  expect(created.status).toBe(201);
  return String(created.body.id);
}

async function health(fake: FakeRunpod, id: string): Promise<{ podId?: string } | null> {
  const port = fake.pod(id)?.ports[0]?.public;
  return fetch(`http://127.0.0.1:${port}/healthz`).then(
    (answer) => answer.json() as Promise<{ podId: string }>,
    () => null,
  );
}

async function until<T>(
  what: string,
  look: () => Promise<T | null | false> | T | null | false,
  pauseMs = 50,
): Promise<T> {
  for (const endMs = Date.now() + 15_000; Date.now() < endMs; await sleep(pauseMs)) {
    const seen = await look();
    if (seen !== null && seen !== false) return seen;
  }
  throw new Error(`not within 15 s: ${what}`);
}

const folders: string[] = [];
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const dir of folders.splice(0)) await rm(dir, { recursive: true, force: true });
});
async function makeFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'fake-runpod-test-'));
  folders.push(dir);
  return dir;
}

describe('pods of the fake RunPod that are real gateways', () => {
  it('it_answers_under_the_id_that_runpod_gave_it_again_after_a_stop_and_ends_with_its_pod', async () => {
    const client = await startClient({ speed: 1, knobs: QUICK });
    const id = await rentGateway(client);
    expect((await until('the gateway answers', () => health(client.fake, id))).podId).toBe(id);
    const first = client.fake.pod(id)?.process?.pid;
    await client.v2('POST', `/pods/${id}/action`, { action: 'stop' });
    await client.v2('POST', `/pods/${id}/action`, { action: 'start' });
    await until('another process answers', async () => {
      const pid = client.fake.pod(id)?.process?.pid;
      return pid !== undefined && pid !== first && (await health(client.fake, id)) !== null;
    });
    const { process } = client.fake.pod(id) ?? {};
    expect(await client.v2('DELETE', `/pods/${id}`)).toMatchObject({ status: 204 });
    await until('its process is gone', async () => process != null && !(await isSameProcess(process)));
  });

  it('an_abandoned_gateway_removes_its_pod_if_it_was_told_how_and_otherwise_leaves_one_that_bills (R-044)', async () => {
    const client = await startClient({ speed: 1, knobs: QUICK });
    const { restV2Url: apiUrl, graphqlUrl } = client.fake;
    const [mute, told] = await Promise.all([
      rentGateway(client, podEnv({ deadManMs: 1_000 })),
      rentGateway(client, podEnv({ deadManMs: 1_000, removal: 'runpod', apiUrl, graphqlUrl })),
    ]);
    await until('the pod is gone', () => client.fake.pod(told)?.state === 'terminated');
    await until('the container is down', () => client.fake.pod(mute)?.containerExitedAtMs != null);
    expect((await client.v2('GET', `/pods/${mute}`)).body).toMatchObject({
      status: 'RUNNING',
      runtime: null,
    });
    expect(client.fake.ledger().map(({ podId, toMs }) => [podId, toMs === null])).toEqual(
      expect.arrayContaining([
        [mute, true],
        [told, false],
      ]),
    );
  });

  it('it_outlives_the_fake_and_is_found_again_with_everything_that_was_rented', async () => {
    const stateDir = await makeFolder();
    const first = await startFakeRunpod({ stateDir, knobs: QUICK });
    const client = clientOf(first, first.apiKey);
    const id = await rentGateway(client);
    await client.create({ name: 'light' });
    await until('the gateway answers', () => health(first, id));
    const { process, ports, createdAtMs } = first.pod(id) ?? {};
    await first.close();
    expect(process != null && (await isSameProcess(process))).toBe(true);

    const second = await startFakeRunpod({ stateDir });
    try {
      expect(second.pods().map(({ request }) => request.name)).toEqual(['pod-1', 'light']);
      expect(second.pod(id)).toMatchObject({ process, ports, createdAtMs });
      expect((await health(second, id))?.podId).toBe(id);
      expect((await clientOf(second, second.apiKey).v2('DELETE', `/pods/${id}`)).status).toBe(204);
      await until('its process is gone', async () => process != null && !(await isSameProcess(process)));
    } finally {
      await second.close({ endProcesses: true });
    }
  });
});

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      resolve(true);
      socket.destroy();
    });
  });
}

describe('the fake RunPod as a process', () => {
  function spawnFake(optionsFile: string): ChildProcess {
    const child = spawn(realNodeBinary(), [programPath('sim'), optionsFile], { stdio: 'ignore' });
    children.push(child);
    return child;
  }

  async function start(stateDir: string): Promise<{ child: ChildProcess; url: string }> {
    const optionsFile = join(stateDir, 'options.json');
    await writeFile(
      optionsFile,
      JSON.stringify({ stateDir, apiKeys: [{ key: 'rpa_test', mayWrite: true }] }),
    );
    await rm(join(stateDir, 'ready'), { force: true });
    const child = spawnFake(optionsFile);
    const url = await until('it serves', async () => {
      const port = await readFile(join(stateDir, 'port'), 'utf8').catch(() => null);
      const at = `http://127.0.0.1:${port}`;
      const answers = await fetch(`${at}/_fake/clock`).then(
        ({ ok }) => ok,
        () => false,
      );
      return answers && at;
    });
    return { child, url };
  }

  it('after_a_kill_it_is_on_the_same_port_again_and_knows_what_it_had_answered', async () => {
    const stateDir = await makeFolder();
    const headers = { authorization: 'Bearer rpa_test', 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'p', image: 'i', gpu: { id: 'NVIDIA A40', count: 1 } });
    const first = await start(stateDir);
    const created = await fetch(`${first.url}/v2/pods`, { method: 'POST', headers, body });
    const { id } = (await created.json()) as { id: string };
    first.child.kill('SIGKILL');
    await until('it is dead', () => first.child.signalCode !== null);

    const second = await start(stateDir);
    expect(second.url).toBe(first.url);
    const listed = await fetch(`${second.url}/v2/pods`, { headers });
    expect(await listed.json()).toMatchObject({ pods: [{ id, name: 'p' }] });
    second.child.kill('SIGTERM');
    await until('it ended in order', () => second.child.exitCode === 0);
  });

  it('asked_to_end_the_moment_it_answers_it_ends_in_order', async () => {
    const stateDir = await makeFolder();
    const first = await start(stateDir);
    first.child.kill('SIGKILL');
    await until('it is dead', () => first.child.signalCode !== null);
    const port = Number(new URL(first.url).port);
    for (let round = 1; round <= 2; round += 1) {
      const child = spawnFake(join(stateDir, 'options.json'));
      await until('it serves', () => accepts(port), 1);
      child.kill('SIGTERM');
      await until('it ended', () => child.exitCode !== null || child.signalCode !== null);
      expect([child.exitCode, child.signalCode], `round ${round}`).toEqual([0, null]);
    }
  });
});
