import { describe, expect, it } from 'vitest';
import { A40, startClient } from './fake-client.ts';

const CAPACITY = /no longer any instances available with the requested specifications/;

describe('capacity of the fake RunPod (contract section 9, 1)', () => {
  it('the_stock_word_says_high_and_nothing_is_there', async () => {
    const client = await startClient();
    client.fake.setStock({ gpuId: A40 }, { free: 0 });
    const listed = await client.v2('GET', '/catalog/gpus?include=AVAILABILITY&product=POD');
    const gpus = listed.body.gpus as unknown as { id: string; availability: string }[];
    expect(gpus.find(({ id }) => id === A40)?.availability).toBe('HIGH');
    expect(await client.create()).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(CAPACITY) },
    });
  });

  it('the_stock_word_says_none_and_a_create_succeeds', async () => {
    const client = await startClient();
    client.fake.setStock({ gpuId: A40 }, { stock: 'None' });
    const listed = await client.gql(
      `{ gpuTypes(input: { id: "${A40}" }) { lowestPrice(input: { gpuCount: 1 }) { stockStatus } } }`,
    );
    expect(listed.body.data?.gpuTypes).toEqual([{ lowestPrice: { stockStatus: null } }]);
    expect((await client.create()).status).toBe(201);
  });

  it('what_is_rented_is_gone_until_it_is_given_back', async () => {
    const client = await startClient();
    client.fake.setStock({ gpuId: A40 }, { free: 0 });
    client.fake.setStock({ gpuId: A40, cloud: 'SECURE', dataCenterId: 'EU-SE-1' }, { free: 1 });
    const first = await client.create();
    expect(first.status).toBe(201);
    expect((await client.create()).status).toBe(400);
    await client.v2('DELETE', `/pods/${first.body.id}`);
    expect((await client.create()).status).toBe(201);
  });

  it('two_creates_at_once_do_not_share_the_last_card', async () => {
    const client = await startClient();
    client.fake.setStock({ gpuId: A40 }, { free: 0 });
    client.fake.setStock({ gpuId: A40, cloud: 'SECURE', dataCenterId: 'EU-SE-1' }, { free: 1 });
    const answers = await Promise.all([client.create(), client.create(), client.deploy()]);
    expect(client.fake.pods()).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(1);
  });

  it('a_list_price_is_for_one_card_and_a_lowest_price_for_the_pod', async () => {
    const client = await startClient();
    const query = `{ gpuTypes(input: { id: "${A40}" }) { securePrice secureSpotPrice
      one: lowestPrice(input: { gpuCount: 1, secureCloud: true }) { uninterruptablePrice minimumBidPrice }
      four: lowestPrice(input: { gpuCount: 4, secureCloud: true }) { uninterruptablePrice minimumBidPrice } } }`;
    const { body } = await client.gql(query);
    expect(body.data?.gpuTypes).toEqual([
      {
        securePrice: 0.44,
        secureSpotPrice: 0.24,
        one: { uninterruptablePrice: 0.44, minimumBidPrice: 0.24 },
        four: { uninterruptablePrice: 1.76, minimumBidPrice: 0.96 },
      },
    ]);
  });

  it('a_host_below_the_cuda_floor_is_not_chosen', async () => {
    const client = await startClient();
    client.fake.setStock({ gpuId: A40 }, { cudaVersion: '12.4' });
    expect((await client.create({ gpu: { id: A40, count: 1, minCudaVersion: '12.8' } })).status).toBe(400);
    client.fake.setStock({ gpuId: A40, cloud: 'SECURE', dataCenterId: 'CA-MTL-1' }, { cudaVersion: '12.10' });
    const found = await client.create({ gpu: { id: A40, count: 1, minCudaVersion: '12.8' } });
    expect(found.body).toMatchObject({ dataCenterId: 'CA-MTL-1', cudaVersion: '12.10' });
  });
});

describe('how a create of the fake RunPod ends (contract section 9, 2)', () => {
  it('graphql_refuses_with_a_code_and_v2_with_a_sentence', async () => {
    const client = await startClient();
    client.fake.nextCreates(2, { answer: 'supply-constraint' });
    const { status, body } = await client.deploy();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      errors: [
        {
          path: ['podFindAndDeployOnDemand'],
          extensions: { code: 'SUPPLY_CONSTRAINT', userId: 'user_fake' },
        },
      ],
      data: { podFindAndDeployOnDemand: null },
    });
    const v2 = await client.create();
    expect(v2.headers.get('content-type')).toBe('application/problem+json');
    expect(v2.body).toMatchObject({ status: 400, detail: expect.stringMatching(CAPACITY) });
    expect(client.fake.pods()).toEqual([]);
    expect((await client.create()).status).toBe(201);
  });

  it('graphql_answers_null_without_a_word', async () => {
    const client = await startClient();
    client.fake.nextCreates(1, { answer: 'bare-null' });
    expect((await client.deploy()).body).toEqual({ data: { podFindAndDeployOnDemand: null } });
    expect(client.fake.pods()).toEqual([]);
  });

  it.each(['created-then-500', 'created-then-internal-error', 'created-then-null'] as const)(
    'the_pod_exists_and_bills_although_the_answer_is_%s',
    async (answer) => {
      const client = await startClient();
      client.fake.nextCreates(1, { answer });
      const { status, body, text } = await client.deploy();
      expect(text).not.toContain('"id"');
      if (answer === 'created-then-500') expect(status).toBe(500);
      if (answer === 'created-then-internal-error') {
        expect(body).toMatchObject({ errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }] });
      }
      const listed = await client.v2('GET', '/pods');
      expect(listed.body.pods).toMatchObject([{ name: 'pod-1', status: 'RUNNING' }]);
      await client.fake.advance(3_600_000);
      expect(client.fake.costUsd()).toBe(0.44);
    },
  );

  it('the_connection_is_cut_with_and_without_a_pod', async () => {
    const client = await startClient();
    client.fake.nextCreates(1, { answer: 'cut' });
    await expect(client.create()).rejects.toThrow();
    expect(client.fake.pods()).toHaveLength(0);
    client.fake.nextCreates(2, { answer: 'created-then-cut' });
    await expect(client.create()).rejects.toThrow();
    await expect(client.deploy()).rejects.toThrow();
    expect(client.fake.pods()).toHaveLength(2);
  });

  it('the_answer_comes_late_and_the_pod_bills_from_the_beginning', async () => {
    const client = await startClient();
    client.fake.nextCreates(1, { answerDelayMs: 45_000 });
    const answer = client.create();
    while (client.fake.pods().length === 0) await new Promise((resolve) => setImmediate(resolve));
    const early = await Promise.race([
      answer.then(() => 'answered'),
      client.v2('GET', '/pods').then(() => 'waiting'),
    ]);
    expect(early).toBe('waiting');
    await client.fake.advance(45_000);
    expect((await answer).status).toBe(201);
    expect(client.fake.ledger()[0]?.billedMs).toBe(45_000);
  });

  it('a_new_pod_is_neither_listed_nor_found_and_its_end_is_404_which_proves_nothing', async () => {
    const client = await startClient();
    client.fake.nextCreates(1, { invisibleMs: 60_000 });
    const { id } = (await client.create()).body;
    const seen = async () => ((await client.v2('GET', '/pods')).body.pods as unknown as object[]).length;
    expect(await seen()).toBe(0);
    expect((await client.v2('GET', `/pods/${id}`)).status).toBe(404);
    expect((await client.v2('DELETE', `/pods/${id}`)).status).toBe(404);
    expect((await client.gql(`{ pod(input: { podId: "${id}" }) { id } }`)).body.data).toEqual({ pod: null });
    await client.fake.advance(60_000);
    expect(await seen()).toBe(1);
  });

  it('another_price_is_charged_than_was_quoted', async () => {
    const client = await startClient();
    client.fake.nextCreates(1, { chargedUsdPerHour: 0.66 });
    expect((await client.create()).body.cost).toBe(0.66);
    expect((await client.create()).body.cost).toBe(0.44);
  });

  it('cloud_type_all_falls_back_to_the_dearer_cloud', async () => {
    const client = await startClient();
    client.fake.setStock({ gpuId: A40, cloud: 'COMMUNITY' }, { free: 0 });
    const { body } = await client.deploy({ cloudType: 'ALL' });
    expect(body.data?.podFindAndDeployOnDemand).toMatchObject({ costPerHr: 0.44 });
  });

  it('an_account_without_money_or_above_its_limit_rents_nothing', async () => {
    const client = await startClient();
    client.fake.setKnobs({ balanceUsd: 0 });
    expect((await client.create()).status).toBe(402);
    client.fake.setKnobs({ balanceUsd: null, spendLimitUsdPerHour: 0.4 });
    expect((await client.create()).status).toBe(201);
    expect((await client.deploy()).text).toContain('over your current spending limit');
    expect(client.fake.pods()).toHaveLength(1);
  });
});
