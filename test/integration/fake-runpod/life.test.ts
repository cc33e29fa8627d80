import { describe, expect, it } from 'vitest';
import { A40, type Client, DEPLOY, deployInput, startClient } from './fake-client.ts';

const BOOT_MS = 700_000;

async function rent(client: Client, body?: Record<string, unknown>): Promise<string> {
  return String((await client.create(body)).body.id);
}

async function read(client: Client, id: string) {
  const { body } = await client.v2('GET', `/pods/${id}`);
  return body as unknown as {
    status: string;
    runtime: { ports: { private: number; public: number | null }[] } | null;
  };
}

function tcpPort(client: Client, id: string): number {
  return client.fake.pod(id)?.ports.find(({ type }) => type === 'tcp')?.public ?? 0;
}

async function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/healthz`).then(
    (answer) => answer.ok,
    () => false,
  );
}

describe('the boot of a pod of the fake RunPod (contract section 9, 3)', () => {
  it('runtime_is_null_then_ports_are_listed_and_only_later_somebody_listens', async () => {
    const client = await startClient();
    const id = await rent(client);
    expect(await read(client, id)).toMatchObject({ status: 'RUNNING', runtime: null });
    await client.fake.advance(BOOT_MS - 1);
    expect((await read(client, id)).runtime).toBeNull();
    await client.fake.advance(1);
    const { runtime } = await read(client, id);
    expect(runtime?.ports.map((port) => port.private)).toEqual([8000, 8001, 19_123]);
    const port = tcpPort(client, id);
    expect(runtime?.ports[0]).toMatchObject({ public: port, type: 'tcp', ip: '127.0.0.1' });
    expect(await answers(port)).toBe(false);
    await client.fake.advance(10_000);
    expect(await answers(port)).toBe(true);
  });

  it('both_times_are_knobs_of_one_create', async () => {
    const client = await startClient();
    client.fake.nextCreates(1, { bootMs: 0, listenerDelayMs: 0 });
    const quick = await rent(client);
    const slow = await rent(client);
    await client.fake.settled();
    expect(await answers(tcpPort(client, quick))).toBe(true);
    expect((await read(client, slow)).runtime).toBeNull();
  });

  it('a_pod_that_never_boots_says_running_and_bills', async () => {
    const client = await startClient();
    client.fake.nextCreates(1, { neverBoots: true });
    const id = await rent(client);
    await client.fake.advance(10 * 3_600_000);
    expect(await read(client, id)).toMatchObject({ status: 'RUNNING', runtime: null });
    expect(client.fake.costUsd()).toBe(4.4);
    const logs = await fetch(`${client.fake.restV2Url}/pods/${id}/logs?source=system`, {
      headers: { authorization: `Bearer ${client.fake.apiKey}` },
    });
    const { value } = await (logs.body?.getReader().read() ?? Promise.reject(new Error('no log')));
    expect(logs.headers.get('content-type')).toBe('text/event-stream');
    expect(Buffer.from(value ?? []).toString()).toContain('data: {"source":"system"');
  });

  it('a_container_that_dies_leaves_running_and_null_behind', async () => {
    const client = await startClient();
    client.fake.nextCreates(1, { containerExitsAfterMs: 60_000 });
    const id = await rent(client);
    await client.fake.advance(BOOT_MS + 59_000);
    expect((await read(client, id)).runtime).not.toBeNull();
    expect(await answers(tcpPort(client, id))).toBe(true);
    await client.fake.advance(1_000);
    expect(await read(client, id)).toMatchObject({ status: 'RUNNING', runtime: null });
    expect(await answers(tcpPort(client, id))).toBe(false);
  });

  it('a_pod_is_exited_and_null_within_a_minute', async () => {
    const client = await startClient();
    client.fake.nextCreates(1, { exitedAfterMs: 30_000 });
    const id = await rent(client);
    await client.fake.advance(60_000);
    expect(await read(client, id)).toMatchObject({ status: 'EXITED', runtime: null });
    expect(client.fake.ledger()[0]?.billedMs).toBe(30_000);
  });

  it('one_read_shows_a_null_runtime_and_the_next_one_does_not', async () => {
    const client = await startClient();
    const id = await rent(client);
    await client.fake.advance(BOOT_MS);
    client.fake.setPodKnobs(id, { nullRuntimeReads: 1 });
    expect((await read(client, id)).runtime).toBeNull();
    expect((await read(client, id)).runtime).not.toBeNull();
  });

  it('a_stopped_pod_can_go_on_showing_its_old_runtime_and_v2_can_be_without_the_internal_port', async () => {
    const client = await startClient({ knobs: { staleRuntime: true, internalPort: false } });
    const id = await rent(client);
    await client.fake.advance(BOOT_MS);
    await client.v2('POST', `/pods/${id}/action`, { action: 'stop' });
    const { status, runtime } = await read(client, id);
    expect(status).toBe('EXITED');
    expect(runtime?.ports.map((port) => port.private)).toEqual([8000, 8001]);
  });

  it('v2_can_say_provisioning_and_starting_as_its_description_promises', async () => {
    const client = await startClient({ knobs: { pod: { honestStatus: true } } });
    const id = await rent(client);
    expect((await read(client, id)).status).toBe('PROVISIONING');
    await client.fake.advance(10_000);
    expect((await read(client, id)).status).toBe('STARTING');
    await client.fake.advance(BOOT_MS);
    expect((await read(client, id)).status).toBe('RUNNING');
  });

  it('graphql_shows_the_public_pair_of_a_tcp_port_and_a_private_address_for_http', async () => {
    const client = await startClient();
    const id = await rent(client);
    await client.fake.advance(BOOT_MS);
    const query =
      '{ myself { pods { uptimeSeconds runtime { uptimeInSeconds ports { ip isIpPublic privatePort type } } } } }';
    expect((await client.gql(query)).body.data?.myself).toEqual({
      pods: [
        {
          uptimeSeconds: 0,
          runtime: {
            uptimeInSeconds: 0,
            ports: [
              { ip: '127.0.0.1', isIpPublic: true, privatePort: 8000, type: 'tcp' },
              { ip: '100.65.21.7', isIpPublic: false, privatePort: 8001, type: 'http' },
            ],
          },
        },
      ],
    });
    expect(id).toMatch(/^[a-z0-9]{14}$/);
  });
});

describe('interruption of a spot pod (contract section 9, 4)', () => {
  const rentSpot = async (client: Client, bidPerGpu: number): Promise<string> => {
    const query = DEPLOY.replaceAll('podFindAndDeployOnDemand', 'podRentInterruptable').replace(
      'PodFindAndDeployOnDemandInput',
      'PodRentInterruptableInput',
    );
    const { body } = await client.gql(query, { input: deployInput({ bidPerGpu }) });
    return String(body.data?.podRentInterruptable?.id ?? '');
  };

  it('a_bid_below_the_floor_finds_nothing_and_one_above_it_pays_the_bid', async () => {
    const client = await startClient();
    expect(await rentSpot(client, 0.2)).toBe('');
    const id = await rentSpot(client, 0.3);
    expect(client.fake.pod(id)?.microUsdPerHour).toBe(300_000);
  });

  it('an_outbid_pod_is_exited_says_so_and_listens_five_seconds_more', async () => {
    const client = await startClient();
    const id = await rentSpot(client, 0.3);
    await client.fake.advance(BOOT_MS + 10_000);
    expect(client.fake.outbid(id)).toBe(true);
    const { body } = await client.gql(
      `{ pod(input: { podId: "${id}" }) { desiredStatus lastStatusChange runtime { uptimeInSeconds } } }`,
    );
    expect(body.data?.pod).toEqual({
      desiredStatus: 'EXITED',
      lastStatusChange: expect.stringMatching(/^Outbid: \w{3} \w{3} \d/),
      runtime: null,
    });
    await client.fake.advance(4_999);
    expect(await answers(tcpPort(client, id))).toBe(true);
    await client.fake.advance(1);
    expect(await answers(tcpPort(client, id))).toBe(false);
    expect(client.fake.ledger()[0]?.toMs).toBe(client.fake.nowMs() - 5_000);
  });

  it.each([
    ['terminated', 'TERMINATED'],
    ['vanished', undefined],
  ] as const)('an_outbid_pod_is_%s', async (look, status) => {
    const client = await startClient();
    client.fake.nextCreates(1, { outbidAfterMs: 60_000, outbidLook: look });
    const id = await rentSpot(client, 0.3);
    await client.fake.advance(3_600_000);
    const { body } = await client.gql(`{ pod(input: { podId: "${id}" }) { desiredStatus } }`);
    expect(body.data?.pod?.desiredStatus).toBe(status);
    // However late it is noticed, it bills to the moment of its end.
    expect(client.fake.ledger()[0]?.billedMs).toBe(60_000);
  });
});

describe('the end of a pod of the fake RunPod (contract section 9, 5)', () => {
  it('the_second_delete_is_404_and_its_graphql_words_are_known', async () => {
    const client = await startClient();
    const [first, second] = [await rent(client), await rent(client)];
    expect((await client.v2('DELETE', `/pods/${first}`)).status).toBe(204);
    expect((await client.v2('DELETE', `/pods/${first}`)).status).toBe(404);
    const terminate = `mutation { podTerminate(input: { podId: "${second}" }) }`;
    expect((await client.gql(terminate)).body).toEqual({ data: { podTerminate: null } });
    expect((await client.gql(terminate)).body).toMatchObject({
      errors: [{ message: 'pod not found to terminate' }],
    });
    expect((await client.v2('GET', '/pods')).body.pods).toEqual([]);
  });

  it('an_end_is_accepted_and_the_pod_runs_on', async () => {
    const client = await startClient();
    client.fake.nextCreates(1, { terminate: 'kept' });
    const id = await rent(client);
    expect((await client.v2('DELETE', `/pods/${id}`)).status).toBe(204);
    expect((await read(client, id)).status).toBe('RUNNING');
    client.fake.setPodKnobs(id, { terminate: 'works' });
    expect((await client.v2('DELETE', `/pods/${id}`)).status).toBe(204);
    expect((await client.v2('GET', `/pods/${id}`)).status).toBe(404);
  });

  it('an_end_fails_and_the_pod_is_gone_or_not', async () => {
    const client = await startClient();
    client.fake.nextCreates(1, { terminate: 'fails' });
    client.fake.nextCreates(1, { terminate: 'ends-then-fails' });
    const [stays, goes] = [await rent(client), await rent(client)];
    expect((await client.v2('DELETE', `/pods/${stays}`)).status).toBe(500);
    expect((await client.v2('DELETE', `/pods/${goes}`)).status).toBe(500);
    expect((await client.v2('GET', `/pods/${stays}`)).status).toBe(200);
    expect((await client.v2('GET', `/pods/${goes}`)).status).toBe(404);
  });

  it('stop_frees_the_card_and_start_may_find_it_taken', async () => {
    const client = await startClient();
    client.fake.setStock({ gpuId: A40 }, { free: 0 });
    client.fake.setStock({ gpuId: A40, cloud: 'SECURE', dataCenterId: 'EU-SE-1' }, { free: 1 });
    const id = await rent(client);
    expect((await client.v2('POST', `/pods/${id}/action`, { action: 'start' })).status).toBe(409);
    expect((await client.v2('POST', `/pods/${id}/action`, { action: 'stop' })).body).toMatchObject({
      status: 'EXITED',
      cost: 0.44,
    });
    const other = await rent(client);
    const resume = `mutation { podResume(input: { podId: "${id}", gpuCount: 1 }) { id } }`;
    expect((await client.gql(resume)).text).toContain('not enough free GPUs on the host machine');
    await client.v2('DELETE', `/pods/${other}`);
    expect((await client.gql(resume)).body.data?.podResume).toEqual({ id });
  });

  it('the_timers_of_a_graphql_create_end_it_at_the_provider', async () => {
    const client = await startClient();
    const terminateAfter = new Date(client.fake.nowMs() + 3_600_000).toISOString();
    await client.deploy({ terminateAfter });
    await client.fake.advance(5 * 3_600_000);
    expect((await client.v2('GET', '/pods')).body.pods).toEqual([]);
    expect(client.fake.costUsd()).toBe(0.44);
  });
});
