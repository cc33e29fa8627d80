import { describe, expect, it } from 'vitest';
import { callsOf, openRunpod, order, sentTo } from './runpod-account.ts';

const HOUR_MS = 3_600_000;
const usage = (provider: ReturnType<Awaited<ReturnType<typeof openRunpod>>['open']>, api: string) =>
  provider.usage().find((one) => one.api === api);

describe('bans of RunPod (R-062, L13)', () => {
  it('of_3_3_hours_let_nothing_through_and_the_fleet_is_watched_and_ended_by_REST (must show)', async () => {
    const account = await openRunpod();
    const { fake, clock } = account;
    const provider = account.open();
    await provider.rent(order());
    fake.ban('graphql', 3.3 * HOUR_MS);
    expect(await provider.rent(order())).toMatchObject({ kind: 'refused', fault: 'wait' });
    const before = sentTo(account, 'graphql');
    for (let n = 0; n < 3; n += 1) {
      clock.offsetMs += HOUR_MS;
      expect(await provider.list()).toHaveLength(n + 1);
      expect(await provider.rent(order())).toMatchObject({ kind: 'rented' });
      expect(await provider.offers()).toMatchObject({ source: 'rest' });
    }
    await provider.terminate(fake.pods()[0]?.id ?? '');
    expect(sentTo(account, 'graphql')).toBe(before);
    expect(usage(provider, 'graphql')?.bannedUntilMs).toBeGreaterThan(clock.nowMs());

    clock.offsetMs += 0.4 * HOUR_MS;
    await fake.advance(3.4 * HOUR_MS);
    expect(await provider.rent(order())).toMatchObject({ kind: 'rented' });
    expect(sentTo(account, 'graphql')).toBe(before + 1);
    expect(usage(provider, 'graphql')?.bannedUntilMs).toBeNull();
  });

  it('found_by_one_process_stop_the_others_on_this_machine (R-110)', async () => {
    const account = await openRunpod();
    const [controller, commandLine] = [account.open(), account.open()];
    account.fake.ban('v2', HOUR_MS);
    await controller.list();
    const asked = sentTo(account, 'rest');
    expect(await commandLine.list()).toEqual([]);
    expect(await account.open().list()).toEqual([]);
    expect(sentTo(account, 'rest')).toBe(asked);
    expect(callsOf(account, 'graphql myself')).toBe(3);
    expect(usage(commandLine, 'rest')?.bannedUntilMs).not.toBeNull();
  });

  it('of_both_APIs_fail_what_is_asked_without_a_call', async () => {
    const account = await openRunpod();
    const provider = account.open();
    account.fake.ban('v2', HOUR_MS);
    account.fake.ban('graphql', HOUR_MS);
    await expect(provider.list()).rejects.toMatchObject({ code: 'provider_failed' });
    const asked = [sentTo(account, 'rest'), sentTo(account, 'graphql')];
    await expect(provider.list()).rejects.toThrow('may not be asked');
    await expect(provider.terminate('x')).rejects.toThrow('may not be asked');
    expect(await provider.rent(order())).toMatchObject({ kind: 'refused', fault: 'wait' });
    await expect(provider.offers()).rejects.toMatchObject({ code: 'provider_failed' });
    expect([sentTo(account, 'rest'), sentTo(account, 'graphql')]).toEqual(asked);
  });
});

describe('the hourly budget of GraphQL (R-061)', () => {
  it('counts_the_calls_of_all_processes_and_sends_what_REST_can_do_there (R-110)', async () => {
    const account = await openRunpod();
    const graphqlHourlyBudget = 2;
    const [controller, commandLine] = [
      account.open({ graphqlHourlyBudget }),
      account.open({ graphqlHourlyBudget }),
    ];
    await controller.rent(order());
    await commandLine.rent(order());
    expect(usage(commandLine, 'graphql')).toMatchObject({
      callsLastHour: 2,
      hourlyBudget: 2,
      overBudget: true,
    });
    expect(await controller.rent(order())).toMatchObject({ kind: 'rented' });
    expect(callsOf(account, 'graphql podFindAndDeployOnDemand')).toBe(2);
    expect(callsOf(account, 'v2 POST /pods')).toBe(1);
    expect(account.lines.filter(({ event }) => event === 'runpod_over_budget').length).toBeGreaterThan(0);

    account.clock.offsetMs += 1.1 * HOUR_MS;
    expect(usage(controller, 'graphql')).toMatchObject({ callsLastHour: 0, overBudget: false });
    await controller.rent(order());
    expect(callsOf(account, 'graphql podFindAndDeployOnDemand')).toBe(3);
  });

  it('never_refuses_what_only_GraphQL_answers', async () => {
    const account = await openRunpod();
    const provider = account.open({ graphqlHourlyBudget: 1 });
    await provider.rent(order());
    account.fake.ban('v2', HOUR_MS);
    expect(await provider.list()).toHaveLength(1);
    expect(await provider.rent(order())).toMatchObject({ kind: 'rented' });
  });

  it('shows_the_windows_that_REST_tells', async () => {
    const account = await openRunpod();
    const provider = account.open();
    await provider.list();
    expect(usage(provider, 'rest')).toMatchObject({
      ...{ callsLastHour: 1, hourlyBudget: null, bannedUntilMs: null },
      windows: [
        { window: 'minute', limit: 180, remaining: 179 },
        { window: 'hour', limit: 7_200, remaining: 7_199 },
        { window: 'day', limit: 86_400, remaining: 86_399 },
      ],
    });
  });
});

describe('calls to RunPod', () => {
  it('always_name_their_sender_and_never_go_to_REST_v1 (R-060)', async () => {
    const account = await openRunpod({ knobs: { requireUserAgent: true, v1: 'retired' } });
    const provider = account.open();
    await provider.offers();
    const outcome = await provider.rent(order());
    await provider.list();
    if (outcome.kind === 'rented') await provider.terminate(outcome.pod.id);
    expect(outcome.kind).toBe('rented');
    expect(Object.keys(account.fake.calls()).filter((name) => name.startsWith('v1'))).toEqual([]);
    expect(() => account.open({ restUrl: account.fake.restV1Url })).toThrow('v1');
  });

  it('leave_no_key_token_or_environment_in_the_log', async () => {
    const account = await openRunpod();
    const provider = account.open();
    const request = order();
    const outcome = await provider.rent(request);
    await provider.list();
    if (outcome.kind === 'rented') await provider.terminate(outcome.pod.id);
    const log = JSON.stringify(account.lines);
    for (const secret of [account.fake.apiKey, request.settings.token, 'PAGEFLEET_POD'])
      expect(log).not.toContain(secret);
  });
});
