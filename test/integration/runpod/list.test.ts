import { describe, expect, it } from 'vitest';
import { callsOf, openRunpod, order, type RunpodAccount, sentTo } from './runpod-account.ts';

const REST = 'v2 GET /pods';
const GRAPHQL = 'graphql myself';
const HOUR_MS = 3_600_000;

async function rentMany(account: RunpodAccount, count: number): Promise<string[]> {
  account.fake.setKnobs({ spendLimitUsdPerHour: 100_000 });
  account.fake.setStock({}, { free: count });
  const provider = account.open({ graphqlHourlyBudget: 0 });
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const outcome = await provider.rent(order());
    if (outcome.kind !== 'rented') throw new Error(JSON.stringify(outcome));
    ids.push(outcome.pod.id);
  }
  return ids.sort();
}

const idsOf = (pods: readonly { id: string }[]) => pods.map(({ id }) => id).sort();

describe('a listing of the account', () => {
  it('comes_from_REST_v2_and_has_what_the_pod_says_of_itself (R-060)', async () => {
    const account = await openRunpod();
    const request = order();
    await account.open().rent(request);
    const [pod] = await account.open().list();
    const record = account.fake.pods()[0];
    const port = record?.ports[0]?.public;
    expect(pod).toEqual({
      ...{ id: record?.id, name: request.mark.name, mark: request.mark, url: `http://127.0.0.1:${port}` },
      ...{ createdAtMs: record?.createdAtMs, priceUsdPerHour: 0.44, status: 'running' },
      ...{ card: 'NVIDIA A40', cloud: 'secure', detail: 'RUNNING' },
    });
    expect(callsOf(account, REST)).toBe(1);
    expect(callsOf(account, GRAPHQL)).toBe(0);
  });

  it('is_followed_over_all_its_pages (R-063)', async () => {
    const account = await openRunpod({ knobs: { maxPageSize: 3, quotas: { graphql: { minute: 1_000 } } } });
    const ids = await rentMany(account, 8);
    const provider = account.open();
    expect(idsOf(await provider.list())).toEqual(ids);
    expect(callsOf(account, REST)).toBe(3);
    account.fake.setKnobs({ omitPagination: true });
    expect(idsOf(await provider.list())).toEqual(ids);
  });

  it('has_all_1500_pods_of_three_pages (must show)', async () => {
    const account = await openRunpod({ knobs: { maxPageSize: 500 } });
    const provider = account.open();
    await provider.rent(order());
    const [one] = account.fake.pods();
    if (one === undefined) throw new Error('nothing was rented');
    const { pods } = account.fake.account;
    for (let n = 1; n < 1_500; n += 1) pods.set(`copy${n}`, { ...one, id: `copy${n}` });
    expect(idsOf(await provider.list())).toEqual([...pods.keys()].sort());
    expect(callsOf(account, REST)).toBe(3);
  });

  it('fails_when_its_second_page_does_and_GraphQL_cannot_answer_either (R-063)', async () => {
    const account = await openRunpod({ knobs: { maxPageSize: 2 } });
    await rentMany(account, 3);
    account.fake.ban('graphql', HOUR_MS);
    const provider = account.open();
    await provider.rent(order());
    const first = { api: 'v2', operation: 'GET /pods', afterwards: true, delayMs: 0 } as const;
    account.fake.failNext(first);
    account.fake.failNext({ api: 'v2', operation: 'GET /pods', status: 502, times: 2 });
    await expect(provider.list()).rejects.toMatchObject({ code: 'provider_failed' });
  });

  it('fails_on_a_cursor_that_is_refused_rather_than_take_the_first_page_for_all', async () => {
    const account = await openRunpod({ knobs: { maxPageSize: 2 } });
    await rentMany(account, 3);
    account.fake.failNext({
      ...{ api: 'v2', operation: 'GET /pods', status: 200 },
      body: { pods: [], pagination: { nextCursor: 'foreign', hasNextPage: true } },
    });
    await expect(account.open().list()).rejects.toThrow('cursor is not valid');
  });

  it.each([
    ['a null list', { pods: null }],
    ['no list', { pagination: { hasNextPage: false } }],
    ['an entry without an id', { pods: [{ name: 'x' }] }],
    [
      'a page that says there is more and not where',
      { pods: [], pagination: { hasNextPage: true, nextCursor: null } },
    ],
    ['a page that does not say whether there is more', { pods: [], pagination: { nextCursor: 'x' } }],
    ['null', null],
    ['an HTML page', '<html>hello</html>'],
  ])('that is %s is a failure, never an empty account (L5)', async (_name, body) => {
    const account = await openRunpod();
    account.fake.failNext({ api: 'v2', operation: 'GET /pods', status: 200, body });
    await expect(account.open().list()).rejects.toMatchObject({ code: 'provider_failed' });
    expect(sentTo(account, 'rest')).toBe(1);
  });

  it('whose_pages_lead_in_a_circle_is_a_failure', async () => {
    const account = await openRunpod();
    const body = { pods: [], pagination: { nextCursor: 'again', hasNextPage: true } };
    account.fake.failNext({ api: 'v2', operation: 'GET /pods', status: 200, body, times: 9 });
    await expect(account.open().list()).rejects.toThrow('circle');
  });

  it('skips_null_entries (contract 7.7)', async () => {
    const account = await openRunpod();
    const body = { pods: [null, { id: 'a', status: 'RUNNING' }, null] };
    account.fake.failNext({ api: 'v2', operation: 'GET /pods', status: 200, body });
    expect(idsOf(await account.open().list())).toEqual(['a']);
  });

  it('comes_from_GraphQL_when_REST_fails_twice_or_is_banned (R-060)', async () => {
    const account = await openRunpod({ knobs: { nullEntries: true } });
    const request = order();
    const provider = account.open();
    await provider.rent(request);
    const [listed] = await provider.list();
    account.fake.failNext({ api: 'v2', operation: 'GET /pods', status: 502 });
    expect(await provider.list()).toEqual([listed]);
    expect(callsOf(account, GRAPHQL)).toBe(0);

    account.fake.failNext({ api: 'v2', operation: 'GET /pods', status: 502, times: 2 });
    const [fromGraphql] = await provider.list();
    expect(fromGraphql).toEqual({ ...listed, detail: account.fake.pods()[0]?.lastStatusChange });
    expect(callsOf(account, GRAPHQL)).toBe(1);

    account.fake.ban('v2', HOUR_MS);
    for (let n = 0; n < 3; n += 1) expect(idsOf(await provider.list())).toEqual([listed?.id]);
    expect(sentTo(account, 'rest')).toBe(1 + 2 + 2 + 1);
  });

  it.each([
    ['a null user', { data: { myself: null } }],
    ['a null list', { data: { myself: { pods: null } } }],
    ['errors beside the list', { data: { myself: { pods: [] } }, errors: [{ message: 'x' }] }],
    [
      'Unauthorized',
      { errors: [{ message: 'Unauthorized', extensions: { code: 'RUNPOD' } }], data: { myself: null } },
    ],
  ])('of GraphQL that is %s is a failure', async (_name, body) => {
    const account = await openRunpod();
    account.fake.failNext({ api: 'v2', operation: 'GET /pods', status: 500, times: 2 });
    account.fake.failNext({ api: 'graphql', operation: 'myself', status: 200, body });
    await expect(account.open().list()).rejects.toMatchObject({ code: 'provider_failed' });
  });

  it('shows_a_stopped_pod_without_its_old_address_and_why_where_the_API_says (contract 2.6, 2.7)', async () => {
    const account = await openRunpod({ knobs: { staleRuntime: true } });
    const provider = account.open();
    await provider.rent(order());
    account.fake.outbid(account.fake.pods()[0]?.id ?? '', 'exited');
    expect(await provider.list()).toMatchObject([{ status: 'exited', url: null, priceUsdPerHour: 0.44 }]);
    account.fake.ban('v2', HOUR_MS);
    expect(await provider.list()).toMatchObject([
      { status: 'exited', url: null, detail: expect.stringMatching(/^Outbid/) },
    ]);
  });

  it('calls_a_pod_running_through_a_read_that_shows_no_runtime (contract 2.6)', async () => {
    const account = await openRunpod({ knobs: { pod: { nullRuntimeReads: 1 } } });
    const provider = account.open();
    await provider.rent(order());
    expect(await provider.list()).toMatchObject([{ status: 'running', url: null }]);
    expect(await provider.list()).toMatchObject([
      { status: 'running', url: expect.stringContaining('http') },
    ]);
  });

  it('shows_a_pod_that_was_rented_as_starting_until_it_runs', async () => {
    const account = await openRunpod({ knobs: { pod: { bootMs: 700_000, honestStatus: true } } });
    const provider = account.open();
    await provider.rent(order({ transport: 'proxy' }));
    expect(await provider.list()).toMatchObject([{ status: 'starting', url: null }]);
    await account.fake.advance(700_000);
    expect(await provider.list()).toMatchObject([
      { status: 'running', url: `https://${account.fake.pods()[0]?.id}-8000.proxy.runpod.net` },
    ]);
  });

  it('understands_a_pod_with_fields_that_nobody_knows', async () => {
    const account = await openRunpod({ knobs: { unknownFields: true, internalPort: true } });
    const provider = account.open();
    await provider.rent(order());
    expect(await provider.list()).toMatchObject([{ status: 'running' }]);
  });
});

describe('the end of a pod', () => {
  const TERMINATE = 'graphql podTerminate';

  it('is_asked_of_REST_v2_and_a_pod_that_is_gone_is_a_success (R-060, R-063)', async () => {
    const account = await openRunpod();
    const provider = account.open();
    const [id = ''] = await rentMany(account, 1);
    expect(await provider.terminate(id)).toBeUndefined();
    expect(await provider.list()).toEqual([]);
    expect(await provider.terminate(id)).toBe('absent');
    expect(await provider.terminate('never/was?')).toBe('absent');
    expect(callsOf(account, 'v2 DELETE /pods/{id}')).toBe(3);
    expect(callsOf(account, TERMINATE)).toBe(0);
  });

  it('goes_to_GraphQL_while_REST_is_banned_or_fails_and_gone_is_a_success_there_too', async () => {
    const account = await openRunpod();
    const provider = account.open();
    const [first = '', second = ''] = await rentMany(account, 2);
    account.fake.failNext({ api: 'v2', operation: 'DELETE /pods/{id}', status: 500, times: 2 });
    await provider.terminate(first);
    expect(callsOf(account, TERMINATE)).toBe(1);
    account.fake.ban('v2', HOUR_MS);
    expect(await provider.terminate(second)).toBeUndefined();
    expect(await provider.terminate(second)).toBe('absent');
    expect(callsOf(account, TERMINATE)).toBe(3);
    expect(await provider.list()).toEqual([]);
  });

  it('that_was_carried_out_before_its_answer_was_lost_is_a_success', async () => {
    const account = await openRunpod();
    const [id = ''] = await rentMany(account, 1);
    account.fake.failNext({ api: 'v2', operation: 'DELETE /pods/{id}', cut: true, afterwards: true });
    expect(await account.open().terminate(id)).toBe('absent');
    expect(account.fake.pod(id)?.state).toBe('terminated');
  });

  it('that_nobody_can_be_asked_for_fails_and_so_does_the_end_of_a_part_of_a_cluster', async () => {
    const account = await openRunpod({ knobs: { pod: { terminate: 'fails' } } });
    const provider = account.open();
    const [id = ''] = await rentMany(account, 1);
    await expect(provider.terminate(id)).rejects.toMatchObject({ code: 'provider_failed' });
    account.fake.failNext({
      api: 'v2',
      operation: 'DELETE /pods/{id}',
      status: 409,
      body: { detail: 'cluster' },
    });
    await expect(provider.terminate(id)).rejects.toThrow('409');
    account.fake.failNext({
      ...{ api: 'v2', operation: 'DELETE /pods/{id}', status: 404 },
      body: { title: 'Not Found', status: 404, detail: 'The requested path was not found.' },
    });
    await expect(provider.terminate(id)).rejects.toMatchObject({ code: 'provider_failed' });
  });
});
