import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clusterPaths } from './cluster-paths.ts';
import { loadClusterFile } from './load-cluster-file.ts';

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'pagefleet-cluster-'));
  mkdirSync(join(state, 'run'));
});
afterEach(() => rmSync(state, { recursive: true }));

describe('loadClusterFile', () => {
  it('reads_and_freezes_the_file_of_the_state_directory', () => {
    writeFileSync(clusterPaths(state).clusterFile, '{"v":1,"clusterId":"c","ports":{"workers":[1]}}');
    const file = loadClusterFile({ PAGEFLEET_STATE: state });
    expect(file.clusterId).toBe('c');
    expect(() => (file.ports.workers as number[]).push(2)).toThrow(TypeError);
  });

  it.each([
    [undefined, 'cannot be read'],
    ['{', 'cannot be read'],
    ['3', 'does not hold an object'],
    ['{"v":2}', 'has version 2'],
  ])('says_what_is_wrong_with %s', (text, message) => {
    if (text !== undefined) writeFileSync(clusterPaths(state).clusterFile, text);
    expect(() => loadClusterFile({ PAGEFLEET_STATE: state })).toThrow(message);
  });

  it('says_who_sets_the_variable_when_it_is_missing', () => {
    expect(() => loadClusterFile({})).toThrow('started by `pagefleet up`');
  });
});

describe('clusterPaths', () => {
  it('every_path_is_inside_the_state_directory_and_no_two_are_the_same', () => {
    const paths = Object.values(clusterPaths('/s')).map((path) =>
      typeof path === 'function' ? path('x' as never) : path,
    );
    for (const path of paths) expect(path).toMatch(/^\/s(\/|$)/);
    expect(new Set(paths).size).toBe(paths.length);
  });
});
