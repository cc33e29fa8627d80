import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { A40, clientOf, DEPLOY, deployInput, startClient } from './fake-client.ts';

const HOUR_MS = 3_600_000;

describe('quotas and bans of the fake RunPod (contract section 9, 6)', () => {
  it('v2_shows_three_windows_on_every_answer_and_refuses_when_one_is_empty', async () => {
    const client = await startClient({ knobs: { quotas: { v2: { minute: 2 } } } });
    const first = await client.v2('GET', '/pods');
    expect(first.headers.get('ratelimit-policy')).toBe(
      '"minute";q=2;w=60, "hour";q=7200;w=3600, "day";q=86400;w=86400',
    );
    expect(first.headers.get('ratelimit')).toBe(
      '"minute";r=1;t=60, "hour";r=7199;t=3600, "day";r=86399;t=43200',
    );
    expect((await client.v2('GET', '/pods/nobody')).headers.get('ratelimit')).toContain('"minute";r=0');
    const refused = await client.v2('GET', '/pods');
    expect(refused).toMatchObject({
      status: 429,
      body: { detail: 'rate limit exceeded for the minute window' },
    });
    expect(refused.headers.get('retry-after')).toBe('60');
    await client.fake.advance(60_000);
    expect((await client.v2('GET', '/pods')).status).toBe(200);
  });

  it('an_exempt_caller_gets_no_headers_and_no_refusal', async () => {
    const client = await startClient({ knobs: { v2RateLimited: false, quotas: { v2: { minute: 0 } } } });
    const answer = await client.v2('GET', '/pods');
    expect(answer.status).toBe(200);
    expect(answer.headers.has('ratelimit')).toBe(false);
  });

  it('an_empty_graphql_day_bans_until_midnight_utc_and_v2_goes_on', async () => {
    const client = await startClient({ knobs: { quotas: { graphql: { day: 1 } } } });
    await client.gql('{ myself { id } }');
    const refused = await client.gql('{ myself { id } }');
    expect(refused).toMatchObject({ status: 429, body: { retryAfter: 12 * 3_600 } });
    expect(refused.headers.get('retry-after')).toBe(String(12 * 3_600));
    expect(refused.headers.get('x-ratelimit-remaining-day')).toBe('0');
    expect((await client.create()).status).toBe(201);
    await client.fake.advance(12 * HOUR_MS - 1_000);
    expect((await client.gql('{ myself { id } }')).status).toBe(429);
    await client.fake.advance(1_000);
    expect((await client.gql('{ myself { id } }')).status).toBe(200);
  });

  it('the_header_of_a_graphql_ban_can_differ_from_its_body', async () => {
    const client = await startClient({ knobs: { graphqlRetryAfterHeaderSeconds: 3_939 } });
    client.fake.ban('graphql', 11_871_000);
    const refused = await client.gql('{ myself { id } }');
    expect(refused.headers.get('retry-after')).toBe('3939');
    expect(refused.body.retryAfter).toBe(11_871);
  });

  it('during_a_graphql_ban_v1_reads_and_does_not_write', async () => {
    const client = await startClient();
    const { id } = (await client.create()).body;
    client.fake.ban('graphql', HOUR_MS);
    expect((await client.v1('GET', '/pods')).status).toBe(200);
    expect(await client.v1('DELETE', `/pods/${id}`)).toMatchObject({
      status: 500,
      body: { error: 'unexpected end of JSON input' },
    });
    await client.fake.advance(HOUR_MS);
    expect((await client.v1('DELETE', `/pods/${id}`)).status).toBe(204);
  });

  it('a_v2_ban_leaves_graphql_alone', async () => {
    const client = await startClient();
    client.fake.ban('v2', HOUR_MS);
    expect((await client.v2('GET', '/pods')).headers.get('retry-after')).toBe('3600');
    expect((await client.gql('{ myself { id } }')).status).toBe(200);
  });

  it('calls_are_counted_by_api_and_operation', async () => {
    const client = await startClient();
    await client.v2('GET', '/pods');
    await client.v2('GET', '/pods');
    await client.gql('{ myself { id } countryCodes }');
    expect(client.fake.calls()).toEqual({ 'v2 GET /pods': 2, 'graphql myself+countryCodes': 1 });
  });
});

describe('keys of the fake RunPod (contract section 9, 7)', () => {
  it('the_key_in_a_pods_environment_reads_and_ends_that_pod_and_nothing_else', async () => {
    const client = await startClient();
    const [own, other] = [String((await client.create()).body.id), String((await client.create()).body.id)];
    const inside = clientOf(client.fake, client.fake.pod(own)?.apiKey ?? '');
    expect((await inside.v2('GET', `/pods/${own}`)).status).toBe(200);
    expect((await inside.v2('GET', `/pods/${other}`)).status).toBe(403);
    expect((await inside.v2('GET', '/pods')).status).toBe(403);
    expect((await inside.gql(`{ pod(input: { podId: "${own}" }) { id } }`)).body.data?.pod).toEqual({
      id: own,
    });
    expect((await inside.gql('{ myself { id } }')).body).toMatchObject({
      errors: [{ message: 'Unauthorized', path: ['myself'], extensions: { code: 'RUNPOD' } }],
    });
    const end = (id: string) => inside.gql(`mutation { podTerminate(input: { podId: "${id}" }) }`);
    expect((await end(other)).text).toContain('Unauthorized');
    expect((await end(own)).body).toEqual({ data: { podTerminate: null } });
    expect(client.fake.pods().map(({ state }) => state)).toEqual(['terminated', 'running']);
  });

  it('no_key_a_wrong_key_and_a_key_that_only_reads', async () => {
    const reader = { key: 'rpa_reader', mayWrite: false };
    const client = await startClient({ apiKeys: [{ key: 'rpa_full', mayWrite: true }, reader] });
    const nobody = client.withKey(null);
    expect(await nobody.v2('GET', '/pods')).toMatchObject({
      status: 401,
      body: { detail: 'missing bearer token' },
    });
    expect((await nobody.gql('{ gpuTypes { id } }')).body.data?.gpuTypes).toBeInstanceOf(Array);
    expect((await nobody.gql('{ myself { id } }')).text).toContain('Unauthorized');
    const stranger = client.withKey('rpa_stranger');
    expect((await stranger.v2('GET', '/pods')).status).toBe(401);
    expect((await stranger.gql('{ gpuTypes { id } }')).status).toBe(401);
    const reading = client.withKey(reader.key);
    expect((await reading.v2('GET', '/pods')).status).toBe(200);
    expect((await reading.create()).status).toBe(403);
    expect((await reading.deploy()).text).toContain('Unauthorized');
    expect(client.fake.pods()).toEqual([]);
  });

  it('whoever_does_not_say_who_he_is_is_refused_for_good', async () => {
    const client = await startClient();
    const answered = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const asked = request(`${client.fake.restV2Url}/pods`, (response) => {
        response.setEncoding('utf8');
        response.once('data', (text: string) => resolve({ status: response.statusCode, text }));
      });
      asked.once('error', reject);
      asked.end();
    });
    expect(answered).toEqual({ status: 403, text: 'error code: 1010' });
  });
});

describe('validation by the fake RunPod (contract section 9, 8)', () => {
  it('graphql_refuses_what_its_schema_does_not_know_with_the_words_of_the_real_one', async () => {
    const client = await startClient();
    const select = await client.gql(
      '{ gpuTypes { lowestPrice(input: { gpuCount: 1 }) { interruptablePrice } } }',
    );
    expect(select).toMatchObject({
      status: 400,
      body: {
        errors: [
          {
            message: expect.stringContaining('Cannot query field "interruptablePrice" on type "LowestPrice"'),
            extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
          },
        ],
      },
    });
    const input = await client.deploy({ interruptible: true });
    expect(input.status).toBe(400);
    expect(input.text).toContain(
      'Field \\"interruptible\\" is not defined by type \\"PodFindAndDeployOnDemandInput\\"',
    );
    const inline = await client.gql(
      'mutation { podFindAndDeployOnDemand(input: { interruptible: true }) { id } }',
    );
    expect(inline.text).toContain('is not defined by type \\"PodFindAndDeployOnDemandInput\\"');
    expect((await client.gql('{ __schema { types { name } } }')).status).toBe(400);
    expect(client.fake.pods()).toEqual([]);
  });

  it('object_mounts_are_known_on_one_day_and_unknown_on_the_next', async () => {
    const client = await startClient();
    const objectMounts = [{ objectStoreId: 'gsb_1', mountPath: '/models' }];
    expect((await client.deploy({ objectMounts })).status).toBe(200);
    client.fake.setKnobs({ objectMounts: false });
    expect((await client.deploy({ objectMounts })).text).toContain('Field \\"objectMounts\\" is not defined');
  });

  it.each([
    [{ interruptible: true }, 422, "$: additional properties 'interruptible' not allowed"],
    [{ gpu: {} }, 422, "$.gpu: missing property 'id'"],
    [{ cloud: 'ALL' }, 422, "$.cloud: value must be one of 'SECURE', 'COMMUNITY'"],
    [{ image: undefined }, 422, "$: missing property 'image'"],
    [{ cpu: { id: 'cpu3c', vcpuCount: 2 } }, 400, 'exactly one of gpu and cpu'],
    [{ gpu: undefined }, 400, 'exactly one of gpu and cpu'],
    [{ gpu: { id: A40 } }, 400, 'no longer any instances available'],
    [{ dataCenterIds: ['MOON-1'] }, 400, 'EU-SE-1, EU-RO-1'],
    [
      { gpu: { id: A40, count: 1, minCudaVersion: '12.8', allowedCudaVersions: ['12.8'] } },
      400,
      'exclude each other',
    ],
    [{ env: { LONG: 'x'.repeat(103_000) } }, 413, 'exceeds 102400 bytes'],
  ])('v2_refuses_%j', async (change, status, words) => {
    const client = await startClient();
    const answer = await client.create(change);
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(words);
    expect(client.fake.pods()).toEqual([]);
  });

  it('a_global_volume_is_mounted_beside_a_network_volume_or_unknown', async () => {
    const client = await startClient();
    const network = await client.v2('POST', '/network-volumes', {
      name: 'n',
      size: 10,
      dataCenter: 'CA-MTL-1',
    });
    const global = await client.v2('POST', '/global-volumes', { name: 'g' });
    const mounts = {
      network: [{ volumeId: network.body.id, path: '/models' }],
      global: [{ volumeId: global.body.id, path: '/shared' }],
    };
    expect((await client.create({ mounts })).body).toMatchObject({ dataCenterId: 'CA-MTL-1', mounts });
    client.fake.setKnobs({ mountsGlobal: false });
    expect((await client.create({ mounts })).text).toContain(
      "$.mounts: additional properties 'global' not allowed",
    );
  });

  it('unknown_paths_and_methods_and_broken_json_are_problems_too', async () => {
    const client = await startClient();
    expect((await client.v2('GET', '/nowhere')).body.detail).toBe('The requested path was not found.');
    const wrong = await client.v2('PUT', '/pods', {});
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, POST']);
    expect((await client.v2('POST', '/pods', '{')).status).toBe(400);
  });
});

describe('lists of the fake RunPod (contract section 9, 9)', () => {
  it('300_pods_come_in_three_pages_and_whoever_comes_and_goes_meanwhile_is_not_shown_twice', async () => {
    const client = await startClient({
      knobs: { v2RateLimited: false, spendLimitUsdPerHour: 1_000_000, pod: { listen: false } },
    });
    client.fake.setStock({ gpuId: A40 }, { free: 300 });
    for (let left = 3; left > 0; left -= 1)
      await Promise.all(Array.from({ length: 100 }, () => client.create()));
    client.fake.setKnobs({ maxPageSize: 120 });
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await client.v2('GET', `/pods?limit=1000${cursor === null ? '' : `&cursor=${cursor}`}`);
      const pods = page.body.pods as unknown as { id: string }[];
      seen.push(...pods.map(({ id }) => id));
      await client.v2('DELETE', `/pods/${pods[0]?.id}`);
      const { nextCursor, hasNextPage } = page.body.pagination as unknown as {
        nextCursor: string | null;
        hasNextPage: boolean;
      };
      expect(hasNextPage).toBe(nextCursor !== null);
      cursor = nextCursor;
    } while (cursor !== null);
    expect(new Set(seen).size).toBe(300);
    expect(seen).toHaveLength(300);
  });

  it('a_cursor_of_another_list_is_refused', async () => {
    const client = await startClient({ knobs: { maxPageSize: 1 } });
    await client.create();
    await client.create();
    const { body } = await client.v2('GET', '/pods');
    const cursor = String((body.pagination as unknown as { nextCursor: string }).nextCursor);
    expect((await client.v2('GET', `/pods?cursor=${cursor}`)).status).toBe(200);
    expect((await client.v2('GET', `/pods?includeClusterPods=false&cursor=${cursor}`)).status).toBe(422);
    expect((await client.v2('GET', `/templates?cursor=${cursor}`)).status).toBe(422);
    expect((await client.v2('GET', '/pods?limit=0')).status).toBe(422);
  });

  it('an_older_server_has_no_pagination', async () => {
    const client = await startClient({ knobs: { omitPagination: true, maxPageSize: 1 } });
    await client.create();
    await client.create();
    const { body } = await client.v2('GET', '/pods');
    expect(body.pods).toHaveLength(2);
    expect(body).not.toHaveProperty('pagination');
  });

  it('graphql_lists_hold_nulls_and_rest_answers_fields_that_nobody_knows', async () => {
    const client = await startClient({ knobs: { nullEntries: true, unknownFields: true } });
    const { id } = (await client.create()).body;
    expect((await client.gql('{ myself { pods { id } } }')).body.data?.myself?.pods).toEqual([
      null,
      { id },
      null,
    ]);
    expect((await client.v2('GET', `/pods/${id}`)).body).toHaveProperty('placement');
    expect((await client.v1('GET', `/pods/${id}`)).body).toHaveProperty('adjustedCostPerHr');
  });
});

describe('faults that wait for a call', () => {
  it('an_answer_is_html_a_cut_connection_or_late_and_the_call_may_have_been_carried_out', async () => {
    const client = await startClient();
    client.fake.failNext({ api: 'v2', operation: 'GET /pods', status: 502 });
    const page = await client.v2('GET', '/pods');
    expect([page.status, page.headers.get('content-type')]).toEqual([502, 'text/html; charset=UTF-8']);
    client.fake.failNext({ api: 'v2', operation: 'DELETE /pods/{id}', cut: true, afterwards: true });
    const { id } = (await client.create()).body;
    await expect(client.v2('DELETE', `/pods/${id}`)).rejects.toThrow();
    expect(client.fake.pod(String(id))?.state).toBe('terminated');
    client.fake.failNext({
      api: 'graphql',
      operation: 'podFindAndDeployOnDemand',
      times: 2,
      status: 200,
      body: { data: null },
    });
    expect((await client.gql('{ countryCodes }')).body.data).not.toBeNull();
    for (let left = 2; left > 0; left -= 1) expect((await client.deploy()).body).toEqual({ data: null });
    expect((await client.gql(DEPLOY, { input: deployInput() })).text).toContain('"id"');
  });

  it('the_same_is_reached_over_http', async () => {
    const client = await startClient();
    expect(
      (await client.admin('POST', 'faults', { api: 'v2', status: 503, body: { oops: true } })).status,
    ).toBe(204);
    expect(await client.v2('GET', '/pods')).toMatchObject({ status: 503, body: { oops: true } });
    expect((await client.admin('PATCH', 'knobs', { pod: { bootMs: 5, misspelt: 1 } })).text).toContain(
      'no knob pod.misspelt',
    );
    expect((await client.admin('PATCH', 'knobs', { v1: 'retired' })).body.v1).toBe('retired');
    await client.admin('POST', 'next-creates', { times: 1, knobs: { chargedUsdPerHour: 3 } });
    const { id } = (await client.create()).body;
    await client.admin('POST', 'clock', { advanceMs: 3_600_000 });
    expect((await client.admin('GET', 'ledger')).body).toMatchObject({
      costUsd: 3,
      lines: [{ podId: id, costUsd: 3 }],
    });
    expect((await client.admin('POST', `pods/${id}/outbid`, {})).status).toBe(204);
    const table = await client.admin('GET', 'pods');
    expect(table.body).toMatchObject({ pods: [{ id, state: 'exited' }] });
    expect(table.text).not.toContain('apiKey');
    await client.admin('PATCH', 'stock', { place: { gpuId: A40 }, change: { free: 0 } });
    expect((await client.create()).status).toBe(400);
    await client.admin('POST', 'bans', { api: 'v2', forMs: 1_000 });
    expect((await client.v2('GET', '/pods')).status).toBe(429);
    expect((await client.admin('GET', 'calls')).body.calls).toMatchObject({ 'v2 POST /pods': 2 });
  });
});
