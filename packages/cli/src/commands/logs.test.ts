import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterPaths } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { logs } from './logs.ts';

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'pf-logs-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(state, { recursive: true });
});

describe('pagefleet logs', () => {
  test.each([undefined, 'controller'])('where_no_cluster_ran_says_so: %s', async (program) => {
    await expect(logs(program, { state })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/No cluster was ever up on .*`pagefleet up`/),
    });
  });

  test('where_one_ran_and_left_only_its_logs_they_are_listed', async () => {
    const paths = clusterPaths(state);
    mkdirSync(paths.logsDir);
    writeFileSync(paths.logFile('controller'), 'x');
    const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    expect(await logs(undefined, { state })).toBe(0);
    expect(printed.mock.calls.join()).toContain('controller');
    await expect(logs('nginx', { state })).rejects.toThrow('There is no log of "nginx"');
  });
});
