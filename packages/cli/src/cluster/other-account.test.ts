import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '@pagefleet/contract';
import { clusterPaths, loadConfig } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refuseOtherAccount } from './other-account.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'account-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const local = loadConfig({ env: {}, cwd: import.meta.dirname }).config;
const rented: Config = { ...local, pools: local.pools.map((pool) => ({ ...pool, provider: 'runpod' })) };

function lastLife(config: Config, runpod: Partial<Config['runpod']> = {}) {
  const paths = clusterPaths(folder);
  for (const dir of [paths.runDir, paths.logsDir]) mkdirSync(dir, { recursive: true });
  const ports = { nats: 1, controller: 2, backup: 3, workers: [] };
  const cluster = { v: 1, clusterId: 'c', stateDir: folder, ports, nodeBinary: process.execPath };
  const files = { natsUrl: 'nats://x', natsCredentialsFile: 'x', secretFile: 'x', operatorTokenFile: 'x' };
  const written = { ...cluster, ...files, config: { ...config, runpod: { ...config.runpod, ...runpod } } };
  writeFileSync(paths.clusterFile, JSON.stringify(written));
  return paths;
}

describe('a configuration with another provider (R-035, R-051)', () => {
  it('is_refused_while_nobody_can_say_whether_pods_of_the_last_one_are_left', async () => {
    const paths = lastLife(rented, { apiKeyFile: join(folder, 'no-such-key') });
    await expect(refuseOtherAccount(paths, local)).rejects.toThrow(/API key cannot be read/);
  });

  it('is_taken_where_the_last_account_is_empty_or_was_the_same', async () => {
    await refuseOtherAccount(lastLife(local), rented);
    await refuseOtherAccount(lastLife(rented, { apiKeyFile: 'x' }), rented);
    await refuseOtherAccount(clusterPaths(join(folder, 'new')), rented);
  });
});
