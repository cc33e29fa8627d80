import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApiAnswer, ApiCall } from './api-call.ts';
import { createApiMeters } from './api-meters.ts';
import { composeSend } from './compose-send.ts';
import { openUsageFile } from './usage-file.ts';

const KEY = 'rpa_SECRETSECRET';
const CALL: ApiCall = { operation: 'list', method: 'GET', path: '/pods', timeoutMs: 1_000 };
let dir: string;
let nowMs: number;
let lines: Record<string, unknown>[];
const clock = { nowMs: () => nowMs, sleep: async () => undefined };
const logger = createLogger({
  component: 'test',
  level: 'debug',
  destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
});
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pf-meters-'));
  nowMs = 1_764_500_400_000;
  lines = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function answered(status: number, headers: Record<string, string> = {}, body: unknown = {}): ApiAnswer {
  return { kind: 'answered', status, header: (name) => headers[name], text: JSON.stringify(body), body };
}

function openProcess(options: { answer?: () => ApiAnswer; budget?: number } = {}) {
  const sent: ApiCall[] = [];
  const file = openUsageFile(dir, clock.nowMs);
  const meters = createApiMeters({ file, graphqlHourlyBudget: options.budget ?? 3, clock, logger });
  const raw = async (call: ApiCall): Promise<ApiAnswer> => {
    sent.push(call);
    return options.answer?.() ?? answered(200);
  };
  const send = composeSend(raw, { api: 'graphql', apiKey: KEY, meters, logger, clock });
  return { meters, send, sent, graphql: () => meters.usage().find(({ api }) => api === 'graphql') };
}

const events = (name: string) => lines.filter(({ event }) => event === name);

describe('calls to an API of RunPod', () => {
  it('carry_the_key_in_a_header_and_no_log_line_shows_it', async () => {
    const { send, sent } = openProcess({ answer: () => answered(500, {}, { env: { token: KEY } }) });
    await send({ ...CALL, body: { env: [{ key: 'T', value: KEY }] } });
    expect(sent[0]?.headers).toEqual({ authorization: `Bearer ${KEY}` });
    expect(events('runpod_answered')).toMatchObject([{ api: 'graphql', operation: 'list', status: 500 }]);
    expect(JSON.stringify(lines)).not.toContain(KEY);
  });

  it('are_not_sent_inside_a_ban_by_any_process (R-062, R-110)', async () => {
    const banned = openProcess({
      answer: () => answered(429, { 'retry-after': '3939' }, { retryAfter: 11_871 }),
    });
    const commandLine = openProcess();
    expect(await banned.send(CALL)).toMatchObject({ kind: 'answered', status: 429 });
    const untilMs = nowMs + 11_871_000;
    nowMs = untilMs - 1;
    for (const process of [banned, commandLine, openProcess()]) {
      expect(await process.send(CALL)).toEqual({ kind: 'withheld', untilMs });
      expect(process.graphql()?.bannedUntilMs).toBe(untilMs);
    }
    expect(commandLine.sent).toHaveLength(0);
    nowMs = untilMs - 3_600_000;
    await commandLine.send(CALL);
    expect(commandLine.graphql()?.callsLastHour).toBe(0);
    nowMs = untilMs;
    expect(await commandLine.send(CALL)).toMatchObject({ kind: 'answered', status: 200 });
  });

  it('that_are_about_to_be_sent_when_another_call_meets_a_ban_are_held_back', async () => {
    const { meters, sent } = openProcess();
    const raw = async (call: ApiCall) => answered(sent.push(call));
    const banMeanwhile = { ...meters, count: () => meters.ban('graphql', nowMs + 60_000) };
    const send = composeSend(raw, { api: 'graphql', apiKey: KEY, meters: banMeanwhile, logger, clock });
    expect(await send(CALL)).toMatchObject({ kind: 'withheld' });
    expect(sent).toEqual([]);
  });

  it('count_in_one_budget_with_those_of_other_processes (R-061, R-110)', async () => {
    const [controller, commandLine] = [openProcess(), openProcess()];
    await controller.send(CALL);
    await commandLine.send(CALL);
    expect(commandLine.graphql()).toMatchObject({ callsLastHour: 2, hourlyBudget: 3, overBudget: false });
    await commandLine.send(CALL);
    await controller.meters.refresh();
    expect(controller.graphql()).toMatchObject({ callsLastHour: 3, overBudget: true });
    expect(controller.meters.states()).toEqual({
      rest: { isBanned: false, isOverBudget: false },
      graphql: { isBanned: false, isOverBudget: true },
    });
    expect(openProcess({ budget: 0 }).meters.states().graphql.isOverBudget).toBe(false);
  });

  it('are_counted_and_go_on_when_the_file_cannot_be_written', async () => {
    rmSync(dir, { recursive: true });
    writeFileSync(dir, 'a file where the folder should be');
    const { send, graphql } = openProcess();
    await send(CALL);
    expect(await send(CALL)).toMatchObject({ status: 200 });
    expect(graphql()?.callsLastHour).toBe(2);
    expect(events('runpod_usage_not_shared')).toHaveLength(1);
  });

  it('show_what_is_left_of_each_window', async () => {
    const { send, graphql } = openProcess({
      answer: () => answered(200, { 'x-ratelimit-limit-day': '43200', 'x-ratelimit-remaining-day': '43000' }),
    });
    await send(CALL);
    expect(graphql()?.windows).toEqual([{ window: 'day', limit: 43_200, remaining: 43_000 }]);
  });

  it('have_their_rate_logged_every_ten_minutes_and_a_reached_budget_at_once (R-061)', async () => {
    const { send } = openProcess();
    for (let n = 0; n < 3; n += 1) await send(CALL);
    expect(events('runpod_over_budget')).toMatchObject([
      { api: 'graphql', callsLastHour: 3, hourlyBudget: 3 },
    ]);
    await send(CALL);
    expect(events('runpod_over_budget')).toHaveLength(1);
    expect(events('runpod_calls')).toHaveLength(0);
    nowMs += 600_000;
    await send(CALL);
    expect(events('runpod_over_budget')).toHaveLength(2);
    expect(events('runpod_calls')).toMatchObject([{ callsLastHour: 5, byOperation: { list: 5 } }]);
  });
});
