import { describe, expect, it } from 'vitest';
import { A40, A40_SPOT, callsOf, openRunpod, order, sentTo } from './runpod-account.ts';

const ON_DEMAND = 'graphql podFindAndDeployOnDemand';
const SPOT = 'graphql podRentInterruptable';
const REST = 'v2 POST /pods';
const HOUR_MS = 3_600_000;

describe('a rent at RunPod', () => {
  it('buys_the_pod_that_was_asked_for_and_tells_its_price (R-060, R-052)', async () => {
    const account = await openRunpod({ knobs: { pod: { chargedUsdPerHour: 0.66 } } });
    const request = order({ startCommand: ['serve', '--port', '8000'] });
    const outcome = await account.open().rent(request);
    const [pod] = account.fake.pods();
    expect(outcome).toMatchObject({
      kind: 'rented',
      pod: {
        ...{ id: pod?.id, name: request.mark.name, mark: request.mark, card: 'NVIDIA A40', cloud: 'secure' },
        ...{ priceUsdPerHour: 0.66, createdAtMs: pod?.createdAtMs },
      },
    });
    expect(pod?.request).toMatchObject({
      ...{ name: request.mark.name, image: 'acme/ocr:1', cmd: ['serve', '--port', '8000'], diskGb: 40 },
      ...{
        ports: ['8000/tcp'],
        gpuIds: ['NVIDIA A40'],
        gpuCount: 1,
        minCudaVersion: '12.4',
        clouds: ['SECURE'],
      },
      terminateAfterMs: request.machine?.endsAtMs,
      env: { PAGEFLEET_POD_TOKEN: request.settings.token },
    });
    expect(callsOf(account, ON_DEMAND)).toBe(1);
  });

  it('bids_for_spot_per_card (R-056)', async () => {
    const account = await openRunpod();
    const outcome = await account.open().rent(order({ offer: A40_SPOT }));
    expect(outcome).toMatchObject({ kind: 'rented' });
    expect(account.fake.pods()[0]?.request.bidMicroUsdPerGpu).toBe(240_000);
    expect(callsOf(account, SPOT)).toBe(1);
  });

  it.each([
    ['supply-constraint', 'refused'],
    ['bare-null', 'ambiguous'],
    ['server-error', 'ambiguous'],
    ['cut', 'ambiguous'],
    ['created-then-500', 'ambiguous'],
    ['created-then-cut', 'ambiguous'],
    ['created-then-internal-error', 'ambiguous'],
    ['created-then-null', 'ambiguous'],
  ] as const)('whose answer is "%s" is %s, and is asked for once (contract 9)', async (answer, kind) => {
    const account = await openRunpod();
    account.fake.nextCreates(1, { answer });
    const outcome = await account.open().rent(order());
    expect(outcome.kind).toBe(kind);
    if (outcome.kind === 'refused') expect(outcome.fault).toBe('no-capacity');
    expect(callsOf(account, ON_DEMAND)).toBe(1);
    expect(account.fake.pods()).toHaveLength(answer.startsWith('created') ? 1 : 0);
  });

  it('that_gets_no_connection_bought_nothing', async () => {
    const account = await openRunpod();
    const provider = account.open();
    await account.fake.close();
    expect(await provider.rent(order())).toMatchObject({ kind: 'refused', fault: 'wait' });
  });

  it('gives_up_data_centres_and_then_bounds_when_there_is_no_capacity (contract 8, row 1)', async () => {
    const account = await openRunpod();
    account.fake.setStock({ gpuId: 'NVIDIA A40', dataCenterId: 'EU-SE-1' }, { free: 0 });
    account.fake.setStock({ gpuId: 'NVIDIA A40', dataCenterId: 'EU-RO-1' }, { free: 0 });
    const bounds = { dataCenters: ['EU-SE-1', 'EU-RO-1'], minVcpu: 4, minMemoryGb: 24 };
    expect(await account.open().rent(order(bounds))).toMatchObject({ kind: 'rented' });
    expect(callsOf(account, ON_DEMAND)).toBe(3);
    expect(account.fake.pods()[0]?.request).toMatchObject({
      dataCenterIds: [],
      diskGb: 40,
      minCudaVersion: '12.4',
    });

    account.fake.setStock({ gpuId: 'NVIDIA A40' }, { free: 0 });
    expect(await account.open().rent(order(bounds))).toMatchObject({ kind: 'refused', fault: 'no-capacity' });
    expect(callsOf(account, ON_DEMAND)).toBe(7);
  });

  it('asks_no_further_once_an_answer_was_not_clear', async () => {
    const account = await openRunpod();
    account.fake.nextCreates(1, { answer: 'created-then-500' });
    expect(await account.open().rent(order({ dataCenters: ['EU-SE-1'], minVcpu: 4 }))).toMatchObject({
      kind: 'ambiguous',
    });
    expect(callsOf(account, ON_DEMAND)).toBe(1);
  });

  it('that_is_refused_for_another_reason_is_not_tried_in_other_places', async () => {
    const account = await openRunpod();
    const refusal = { message: 'You are over your current spending limit', extensions: { code: 'RUNPOD' } };
    account.fake.failNext({ api: 'graphql', status: 200, body: { errors: [refusal], data: null } });
    const bounds = { dataCenters: ['EU-SE-1'], minVcpu: 4 };
    expect(await account.open().rent(order(bounds))).toMatchObject({ kind: 'refused', fault: 'account' });
    expect(sentTo(account, 'graphql')).toBe(1);
  });

  it('leaves_out_a_bound_that_is_not_in_the_schema_any_more (contract 8, row 30)', async () => {
    const account = await openRunpod();
    const message = 'Field "minVcpuCount" is not defined by type "PodFindAndDeployOnDemandInput".';
    const errors = [{ message, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }];
    account.fake.failNext({ api: 'graphql', status: 400, body: { errors }, times: 2 });
    const bounds = { dataCenters: ['EU-SE-1'], minVcpu: 4 };
    expect(await account.open().rent(order(bounds))).toMatchObject({ kind: 'rented' });
    expect(sentTo(account, 'graphql')).toBe(3);
    account.fake.failNext({ api: 'graphql', status: 400, body: { errors }, times: 9 });
    expect(await account.open().rent(order(bounds))).toMatchObject({ kind: 'refused', fault: 'request' });
  });

  it('shows_neither_key_nor_token_although_the_refusal_quotes_them', async () => {
    const account = await openRunpod();
    const request = order({ globalVolume: 'gsb_1' });
    const quoted = `Variable "$input" got invalid value { env: "${request.settings.token}" } from ${account.fake.apiKey}`;
    account.fake.failNext({ api: 'graphql', status: 400, body: { errors: [{ message: quoted }] }, times: 2 });
    const outcome = await account.open().rent(request);
    expect(outcome).toMatchObject({
      kind: 'refused',
      fault: 'request',
      reason: expect.stringContaining('redacted'),
    });
    const shown = JSON.stringify([outcome, account.lines]);
    expect(shown).not.toContain(request.settings.token);
    expect(shown).not.toContain(account.fake.apiKey);
  });

  it('is_made_once_more_without_a_global_volume_that_is_not_understood (R-065, contract 8, row 30)', async () => {
    const account = await openRunpod({ knobs: { objectMounts: false, mountsGlobal: false } });
    const provider = account.open();
    const request = order({ globalVolume: 'gsb_1' });
    expect(await provider.rent(request)).toMatchObject({ kind: 'rented' });
    account.fake.ban('graphql', HOUR_MS);
    await provider.rent(order());
    expect(await provider.rent(order({ globalVolume: 'gsb_1' }))).toMatchObject({ kind: 'rented' });
    expect(account.fake.pods().map((pod) => pod.request.globalVolume)).toEqual([null, null]);
    expect(account.lines.filter(({ event }) => event === 'runpod_global_volume_refused')).toHaveLength(2);
    expect(JSON.stringify(account.lines)).not.toContain(request.settings.token);
  });

  it('mounts_a_network_volume_in_its_own_data_centre (R-065)', async () => {
    const account = await openRunpod();
    const volume = {
      id: 'nv_1',
      name: 'models',
      size: 20,
      dataCenterId: 'EU-RO-1',
      type: 'STANDARD',
    } as const;
    account.fake.account.networkVolumes.set('nv_1', volume);
    const request = order({ networkVolume: 'nv_1', dataCenters: ['EU-SE-1'], volumePath: '/models' });
    expect(await account.open().rent(request)).toMatchObject({ kind: 'rented' });
    expect(account.fake.pods()[0]?.request).toMatchObject({
      dataCenterIds: ['EU-RO-1'],
      networkVolume: { volumeId: 'nv_1', path: '/models' },
    });
  });

  it('of_a_community_pod_is_pinned_nowhere (contract 8, row 3)', async () => {
    const account = await openRunpod();
    const offer = { ...A40, cloud: 'community' as const, priceUsdPerHour: 0.35 };
    await account.open().rent(order({ offer, dataCenters: ['EU-RO-1'] }));
    expect(account.fake.pods()[0]).toMatchObject({ cloud: 'COMMUNITY', request: { dataCenterIds: [] } });
  });

  it.each([
    [401, 'account'],
    [402, 'account'],
    [429, 'wait'],
    [400, 'request'],
    [502, null],
  ])('that is answered %i with an HTML page: %s', async (status, fault) => {
    const account = await openRunpod();
    account.fake.failNext({ api: 'graphql', status, body: '<html><h1>no</h1></html>' });
    const outcome = await account.open().rent(order());
    expect(outcome).toMatchObject(fault === null ? { kind: 'ambiguous' } : { kind: 'refused', fault });
    expect(account.fake.pods()).toEqual([]);
  });

  it('says_that_the_firewall_refuses_for_good (contract 1)', async () => {
    const account = await openRunpod();
    account.fake.failNext({ api: 'graphql', status: 403, body: 'error code: 1010' });
    expect(await account.open().rent(order())).toMatchObject({
      ...{ kind: 'refused', fault: 'account' },
      reason: expect.stringMatching(/1010.*for good/),
    });
  });

  it('with_a_key_that_may_only_read_is_refused_and_no_error_shows_the_key', async () => {
    const apiKeys = [{ key: 'rpa_reads_only_0123', mayWrite: false }];
    const account = await openRunpod({ apiKeys });
    const provider = account.open();
    const outcome = await provider.rent(order());
    expect(outcome).toMatchObject({ kind: 'refused', fault: 'account' });
    const wrong = account.open({ apiKey: 'rpa_unknown_0123' });
    const failure = await wrong.list().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'provider_failed', message: expect.stringContaining('401') });
    expect(await wrong.rent(order())).toMatchObject({ kind: 'refused', fault: 'account' });
    expect(JSON.stringify([outcome, failure, account.lines])).not.toContain('rpa_');
  });

  it('without_a_machine_is_none', async () => {
    const account = await openRunpod();
    const outcome = await account.open().rent({ ...order(), machine: null });
    expect(outcome).toMatchObject({ kind: 'refused', fault: 'request' });
    expect(account.fake.calls()).toEqual({});
  });
});

describe('a rent while GraphQL may not be asked (R-060, L13)', () => {
  it('on_demand_goes_through_REST_v2_and_spot_waits', async () => {
    const account = await openRunpod();
    const provider = account.open();
    account.fake.ban('graphql', 3.3 * HOUR_MS);
    expect(await provider.rent(order())).toMatchObject({ kind: 'refused', fault: 'wait' });
    const asked = sentTo(account, 'graphql');
    const request = order({ dataCenters: ['EU-SE-1'], startCommand: ['serve'] });
    const outcome = await provider.rent(request);
    const pod = account.fake.pods()[0];
    expect(outcome).toMatchObject({
      kind: 'rented',
      pod: { id: pod?.id, mark: request.mark, priceUsdPerHour: 0.44 },
    });
    expect(pod?.request).toMatchObject({ gpuCount: 1, dataCenterIds: ['EU-SE-1'], cmd: ['serve'] });
    expect(await provider.rent(order({ offer: A40_SPOT }))).toMatchObject({
      ...{ kind: 'refused', fault: 'wait' },
      reason: expect.stringContaining('spot'),
    });
    expect(account.fake.pods()).toHaveLength(1);
    expect(sentTo(account, 'graphql')).toBe(asked);

    account.fake.setStock({ gpuId: 'NVIDIA A40' }, { free: 0 });
    expect(await provider.rent(order({ minVcpu: 4 }))).toMatchObject({
      kind: 'refused',
      fault: 'no-capacity',
    });
    expect(callsOf(account, REST)).toBe(3);
  });

  it.each(['created-then-500', 'created-then-cut', 'server-error'] as const)(
    'whose answer by REST v2 is "%s" is ambiguous',
    async (answer) => {
      const account = await openRunpod();
      const provider = account.open({ graphqlHourlyBudget: 1 });
      await provider.offers();
      account.fake.nextCreates(1, { answer });
      expect((await provider.rent(order())).kind).toBe('ambiguous');
      expect(callsOf(account, REST)).toBe(1);
      expect(callsOf(account, ON_DEMAND)).toBe(0);
    },
  );

  it('past_the_hourly_budget_spot_still_goes_through_GraphQL_for_nothing_else_has_it', async () => {
    const account = await openRunpod();
    const provider = account.open({ graphqlHourlyBudget: 1 });
    await provider.offers();
    expect(await provider.rent(order({ offer: A40_SPOT }))).toMatchObject({ kind: 'rented' });
    expect(await provider.rent(order())).toMatchObject({ kind: 'rented' });
    expect([callsOf(account, SPOT), callsOf(account, ON_DEMAND), callsOf(account, REST)]).toEqual([1, 0, 1]);
  });
});
