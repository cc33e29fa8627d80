import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterPaths } from '@pagefleet/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import { requireCluster } from './require-cluster.ts';

const state = mkdtempSync(join(tmpdir(), 'pagefleet-require-'));
afterEach(() => rmSync(state, { recursive: true, force: true }));

describe('a command that needs a cluster', () => {
  test('says_that_there_was_none', () => {
    expect(() => requireCluster({ state })).toThrow(/^No cluster was ever up on .*pagefleet up/);
  });

  test.each(['', '{}', 'null', '{"v":99}', '{"v":'])('names_the_file_that_is_damaged: %j', (text) => {
    const { clusterFile, runDir } = clusterPaths(state);
    mkdirSync(runDir, { recursive: true });
    writeFileSync(clusterFile, text);
    expect(() => requireCluster({ state })).toThrow(/cluster\.json is damaged .*pagefleet down/);
  });
});
