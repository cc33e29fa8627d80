import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '@pagefleet/contract';
import { clusterPaths, loadConfig } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepApiKey } from './keep-api-key.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'key-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const local = loadConfig({ env: {}, cwd: import.meta.dirname }).config;
const rented: Config = { ...local, pools: local.pools.map((pool) => ({ ...pool, provider: 'runpod' })) };

describe('the API key', () => {
  it('of_the_environment_is_kept_in_a_file_of_its_owner_and_found_there_by_a_later_command', async () => {
    const paths = clusterPaths(folder);
    const kept = await keepApiKey(paths, rented, { RUNPOD_API_KEY: ' rpa_secret \n' });
    expect(kept.runpod.apiKeyFile).toBe(paths.runpodKeyFile);
    expect(readFileSync(paths.runpodKeyFile, 'utf8')).toBe('rpa_secret\n');
    expect(statSync(paths.runpodKeyFile).mode & 0o777).toBe(0o600);
    expect((await keepApiKey(paths, rented, {})).runpod.apiKeyFile).toBe(paths.runpodKeyFile);
  });

  it('that_is_missing_is_named_with_both_ways_to_give_it', async () => {
    await expect(keepApiKey(clusterPaths(folder), rented, {})).rejects.toThrow(
      'runpod.api_key_file, or RUNPOD_API_KEY',
    );
  });

  it('is_never_taken_from_the_environment_for_local_pods_or_beside_a_configured_file', async () => {
    const env = { RUNPOD_API_KEY: 'rpa_secret' };
    expect(await keepApiKey(clusterPaths(folder), local, env)).toBe(local);
    const configured = { ...rented, runpod: { ...rented.runpod, apiKeyFile: '/else/where' } };
    expect(await keepApiKey(clusterPaths(folder), configured, env)).toBe(configured);
  });
});
