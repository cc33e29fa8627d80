import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openUsageFile, type UsageEntry } from './usage-file.ts';

const HOUR_MS = 3_600_000;
let dir: string;
let nowMs: number;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pf-usage-'));
  nowMs = 1_764_500_400_000;
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const openOne = () => openUsageFile(dir, () => nowMs);
const call = (operation: string): UsageEntry => ({ kind: 'call', api: 'graphql', operation, atMs: nowMs });
const ban = (untilMs: number): UsageEntry => ({ kind: 'ban', api: 'rest', untilMs, atMs: nowMs });

describe('calls and bans that processes share (R-110)', () => {
  it('are_read_by_every_process_once', async () => {
    const [one, other] = [openOne(), openOne()];
    expect(await other.readNew()).toEqual([]);
    await one.append(call('create'));
    await other.append(call('list'));
    await one.append(ban(nowMs + 5));
    const all = [ban(nowMs + 5), call('create'), call('list')];
    for (const reader of [one, other, openOne()]) {
      expect(await reader.readNew()).toEqual(all);
      expect(await reader.readNew()).toEqual([]);
    }
    nowMs += HOUR_MS;
    await one.append(call('create'));
    expect(await other.readNew()).toEqual([call('create')]);
  });

  it('are_for_their_owner_only', async () => {
    await openOne().append(call('list'));
    for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
  });

  it('lose_nothing_but_the_line_that_a_killed_process_left_half_written', async () => {
    const file = openOne();
    await file.append(call('create'));
    const [name] = readdirSync(dir);
    appendFileSync(join(dir, name ?? ''), `\n${nowMs} grap`);
    expect(await file.readNew()).toEqual([call('create')]);
    await file.append(call('list'));
    expect(await file.readNew()).toEqual([call('list')]);
  });

  it('leave_out_what_is_none', async () => {
    const file = openOne();
    await file.append(call('create'));
    const [name] = readdirSync(dir);
    const strange = ['x', `${nowMs} soap call list`, `${nowMs} rest ban soon`, `${nowMs} rest call L;rm`];
    appendFileSync(join(dir, name ?? ''), `${strange.join('\n')}\n\u0000\n`);
    writeFileSync(join(dir, 'notes'), 'not ours');
    expect(await file.readNew()).toEqual([call('create')]);
    expect(readdirSync(dir)).toContain('notes');
  });

  it('are_forgotten_when_they_matter_no_more', async () => {
    const file = openOne();
    await file.append(call('create'));
    await file.append(ban(nowMs + 6 * HOUR_MS));
    nowMs += 2 * HOUR_MS;
    expect(await openOne().readNew()).toEqual(
      [ban(nowMs + 4 * HOUR_MS)].map((e) => ({ ...e, atMs: nowMs - 2 * HOUR_MS })),
    );
    expect(readdirSync(dir).filter((name) => name.startsWith('calls'))).toEqual([]);
    nowMs += 5 * HOUR_MS;
    await file.readNew();
    expect(readdirSync(dir)).toEqual([]);
  });
});
