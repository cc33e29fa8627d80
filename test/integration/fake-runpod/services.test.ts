import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { A40, type Client, startClient } from './fake-client.ts';

const DAY_MS = 86_400_000;

describe('the billing of the fake RunPod (contract section 9, 10)', () => {
  it('a_pod_bills_from_its_creation_to_its_end_and_not_while_it_is_stopped', async () => {
    const client = await startClient();
    const { id } = (await client.create()).body;
    await client.fake.advance(1_800_000);
    await client.v2('POST', `/pods/${id}/action`, { action: 'stop' });
    await client.fake.advance(DAY_MS);
    await client.v2('POST', `/pods/${id}/action`, { action: 'start' });
    await client.fake.advance(1_800_000);
    await client.v2('DELETE', `/pods/${id}`);
    await client.fake.advance(DAY_MS);
    expect(client.fake.costUsd()).toBe(0.44);
    expect(client.fake.ledger().map(({ billedMs, exact }) => [billedMs, exact])).toEqual([
      [1_800_000, 792_000_000_000n],
      [1_800_000, 792_000_000_000n],
    ]);
  });

  it('billing_records_add_up_to_the_ledger_to_a_millionth_of_a_dollar', async () => {
    const client = await startClient();
    let random = 12_345;
    const draw = (below: number): number => {
      random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
      return random % below;
    };
    for (let turn = 0; turn < 30; turn += 1) {
      client.fake.nextCreates(1, { chargedUsdPerHour: (1 + draw(500)) / 1_000 });
      const { id } = (await client.create({ gpu: { id: A40, count: 1 } })).body;
      await client.fake.advance(draw(7_200_000));
      if (draw(4) > 0) await client.v2('DELETE', `/pods/${id}`);
    }
    const { body } = await client.v2('GET', '/billing/pods?bucketSize=hour&lastN=60');
    const { records, metadata } = body as unknown as {
      records: { totalAmount: number; podId: string; startTime: string }[];
      metadata: { totals: { totalAmount: number }; uniquePodCount: number; recordCount: number };
    };
    expect(metadata.uniquePodCount).toBe(30);
    expect(metadata.recordCount).toBe(records.length);
    expect(metadata.totals.totalAmount).toBe(client.fake.costUsd());
    const sum = records.reduce((total, { totalAmount }) => total + totalAmount, 0);
    expect(Math.abs(sum - client.fake.costUsd())).toBeLessThan(records.length * 0.000_001);
    const one = records[0]?.podId ?? '';
    const filtered = await client.v2('GET', `/billing/pods?podId=${one}&bucketSize=year&lastN=1`);
    expect(filtered.body).toMatchObject({
      records: [{ podId: one, startTime: '2026-01-01T00:00:00.000Z' }],
      metadata: { query: { podId: one } },
    });
  });

  it('the_aggregate_has_every_bucket_and_the_window_is_widened_to_whole_ones', async () => {
    const client = await startClient();
    await client.create();
    await client.fake.advance(DAY_MS);
    const { body } = await client.v2(
      'GET',
      '/billing?startTime=2026-11-30T15:00:00Z&endTime=2026-12-01T01:00:00Z',
    );
    expect(body).toMatchObject({
      records: [
        { startTime: '2026-11-30T00:00:00.000Z', endTime: '2026-12-01T00:00:00.000Z', podGpuAmount: 5.28 },
        { startTime: '2026-12-01T00:00:00.000Z', endTime: '2026-12-02T00:00:00.000Z', podGpuAmount: 5.28 },
      ],
      metadata: { query: { bucketSize: 'day' }, recordCount: 2, totals: { totalAmount: 10.56 } },
    });
    expect((await client.v2('GET', '/billing?bucketSize=fortnight')).status).toBe(422);
  });
});

describe('the proxy of the fake RunPod (contract section 9, 11)', () => {
  const through = (client: Client, host: string, path = '/healthz'): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const asked = request(
        { host: '127.0.0.1', port: client.fake.port, path, headers: { host } },
        (response) => {
          response.resume();
          response.once('end', () => resolve(response.statusCode));
        },
      );
      asked.once('error', reject);
      asked.end();
    });
  const hostOf = (id: unknown, port = 8001): string => `${id}-${port}.proxy.runpod.net`;

  it('an_http_port_is_reached_by_name_once_somebody_listens', async () => {
    const client = await startClient();
    const { id } = (await client.create()).body;
    expect(await through(client, hostOf(id))).toBe(502);
    client.fake.setKnobs({ proxyClosed: 404 });
    expect(await through(client, hostOf(id))).toBe(404);
    await client.fake.advance(720_000);
    expect(await through(client, hostOf(id))).toBe(200);
    // A tcp port has no name.
    expect(await through(client, hostOf(id, 8000))).toBe(404);
  });

  it('after_100_seconds_without_an_answer_it_is_524', async () => {
    let asked = 0;
    const client = await startClient({
      lightPod: (_pod, incoming) => {
        incoming.resume();
        asked += 1;
      },
    });
    const { id } = (await client.create()).body;
    await client.fake.advance(720_000);
    const answer = through(client, hostOf(id));
    while (asked === 0) await new Promise((resolve) => setImmediate(resolve));
    await client.fake.advance(99_000);
    const early = await Promise.race([answer, client.v2('GET', '/pods').then(() => 'still waiting')]);
    expect(early).toBe('still waiting');
    await client.fake.advance(1_000);
    expect(await answer).toBe(524);
  });
});

describe('REST v1 of the fake RunPod (contract section 9, 12)', () => {
  const body = {
    name: 'old',
    imageName: 'acme/ocr:1',
    gpuTypeIds: [A40],
    ports: ['8000/tcp', '8001/http'],
    env: { A: 'b' },
  };

  it('lists_are_bare_times_are_of_go_and_only_tcp_ports_are_mapped', async () => {
    const client = await startClient();
    const created = await client.v1('POST', '/pods', body);
    expect(created).toMatchObject({
      status: 201,
      body: { imageName: 'acme/ocr:1', publicIp: '', portMappings: null, machine: {} },
    });
    expect(created.body.createdAt).toBe('2026-11-30 12:00:00 +0000 UTC');
    await client.fake.advance(700_250);
    const listed = (await client.v1('GET', '/pods?includeMachine=true')).body as unknown as Record<
      string,
      unknown
    >[];
    const port = client.fake.pods()[0]?.ports[0]?.public;
    expect(listed).toMatchObject([
      { publicIp: '127.0.0.1', portMappings: { 8000: port }, env: { A: 'b' }, machine: { gpuTypeId: A40 } },
    ]);
    expect((await client.v1('DELETE', `/pods/${created.body.id}`)).status).toBe(204);
    expect(await client.v1('DELETE', `/pods/${created.body.id}`)).toMatchObject({
      status: 404,
      body: { error: 'pod not found', status: 404 },
    });
  });

  it('capacity_is_a_500_unknown_keys_a_400_and_a_restart_does_nothing', async () => {
    const client = await startClient();
    expect((await client.v1('POST', '/pods', { ...body, startSsh: true })).text).toContain(
      'Extra input keys',
    );
    client.fake.setStock({ gpuId: A40 }, { free: 0 });
    expect(await client.v1('POST', '/pods', body)).toMatchObject({
      status: 500,
      body: { error: expect.stringContaining('no instances available') },
    });
    client.fake.setStock({ gpuId: A40 }, { free: 1 });
    client.fake.nextCreates(1, { answer: 'created-then-500' });
    expect((await client.v1('POST', '/pods', body)).status).toBe(500);
    const pod = client.fake.pods()[0];
    expect((await client.v1('POST', `/pods/${pod?.id}/restart`)).status).toBe(200);
    expect(pod?.startedAtMs).toBe(pod?.createdAtMs);
  });

  it('once_retired_it_answers_410_to_everything', async () => {
    const client = await startClient({ knobs: { v1: 'retired' } });
    expect((await client.v1('GET', '/pods')).status).toBe(410);
    expect((await client.v1('POST', '/pods', body)).status).toBe(410);
    expect(client.fake.pods()).toEqual([]);
  });
});

describe('what else the account holds', () => {
  it('volumes_of_a_data_centre_bind_pods_to_it_and_only_grow', async () => {
    const client = await startClient();
    const { id } = (
      await client.v2('POST', '/network-volumes', { name: 'm', size: 20, dataCenter: 'US-KS-2' })
    ).body;
    expect((await client.v2('PATCH', `/network-volumes/${id}`, { size: 10 })).status).toBe(400);
    expect((await client.v2('PATCH', `/network-volumes/${id}`, { size: 30 })).body).toMatchObject({
      size: 30,
      dataCenter: 'US-KS-2',
    });
    const query = '{ myself { networkVolumes { id size dataCenterId } } }';
    expect((await client.gql(query)).body.data?.myself).toEqual({
      networkVolumes: [{ id, size: 30, dataCenterId: 'US-KS-2' }],
    });
    const pod = await client.deploy({ networkVolumeId: id });
    const podId = String(pod.body.data?.podFindAndDeployOnDemand?.id);
    expect(client.fake.pod(podId)?.dataCenterId).toBe('US-KS-2');
    const remove = `mutation { deleteNetworkVolume(input: { id: "${id}" }) }`;
    expect((await client.gql(remove)).body).toEqual({ data: { deleteNetworkVolume: null } });
    expect((await client.gql(remove)).text).toContain('Tried to delete nonexistent network volume');
  });

  it('registries_have_unique_names_and_never_give_a_password_back', async () => {
    const client = await startClient();
    const save =
      'mutation { saveRegistryAuth(input: { name: "r", username: "u", password: "hunter2" }) { id name } }';
    const id = String((await client.gql(save)).body.data?.saveRegistryAuth?.id);
    expect((await client.gql(save)).text).toContain('unique');
    const listed = await client.v2('GET', '/registries');
    expect(listed.body.registries).toEqual([{ id, name: 'r' }]);
    expect((await client.v2('DELETE', `/registries/${id}`)).status).toBe(204);
  });

  it('a_template_gives_what_the_create_does_not_say', async () => {
    const client = await startClient();
    const template = await client.v2('POST', '/templates', {
      name: 't',
      image: 'acme/ocr:2',
      env: { A: '1', B: '1' },
      disk: 77,
    });
    const created = await client.create({ templateId: template.body.id, image: undefined, env: { B: '2' } });
    expect(created.body).toMatchObject({
      image: 'acme/ocr:2',
      env: { A: '1', B: '2' },
      disk: 77,
      template: null,
    });
    expect((await client.create({ templateId: 'nobody' })).status).toBe(404);
  });

  it('an_endpoint_appears_late_and_its_jobs_take_their_time', async () => {
    const client = await startClient({ knobs: { endpointPropagationMs: 5_000 } });
    const created = await client.v2('POST', '/serverless', {
      name: 'ocr',
      type: 'QUEUE',
      image: 'acme/worker:1',
      gpu: { pools: ['AMPERE_48'], count: 1 },
      workers: { min: 0, max: 2 },
    });
    expect(created.status).toBe(201);
    const { id } = created.body;
    expect((await client.invoke('GET', `/${id}/health`)).status).toBe(404);
    await client.fake.advance(5_000);
    const job = await client.invoke('POST', `/${id}/run`, { input: { page: 1 } });
    expect(job.body.status).toBe('IN_QUEUE');
    await client.fake.advance(1_000);
    expect((await client.invoke('GET', `/${id}/status/${job.body.id}`)).body).toMatchObject({
      status: 'COMPLETED',
      output: { echo: { page: 1 } },
    });
    expect((await client.invoke('GET', `/${id}/health`)).body).toMatchObject({
      jobs: { completed: 1 },
      workers: { idle: 1 },
    });
    const more = { name: 'x', type: 'QUEUE', image: 'i', gpu: { pools: [] }, workers: { max: 4 } };
    expect((await client.v2('POST', '/serverless', more)).text).toContain(
      'must not exceed your workers quota (5)',
    );
    expect((await client.v2('GET', '/account/limits')).body.serverlessWorkers).toEqual({
      limit: 5,
      current: 2,
    });
    expect((await client.v2('DELETE', `/serverless/${id}`)).status).toBe(204);
  });
});
