import { loadConfig } from '@pagefleet/runtime';
import { describe, expect, test } from 'vitest';
import { sizeWorker } from './sizes.ts';

const LARGE = { descriptors: 1_048_576, somaxconn: 65_535, tasks: 100_000, memoryBytes: 64e9 };
const config = (env: Record<string, string>) => loadConfig({ env, cwd: '/' }).config;
const FULL = { PAGEFLEET_WORKERS: '4', PAGEFLEET_LIMITS_MAX_IN_FLIGHT: '8192' };

describe('sizes of one worker, from max_in_flight (R-007, R-010)', () => {
  test('ceilings_are_divided_and_connections_exceed_them_by_a_quarter', () => {
    expect(sizeWorker(config(FULL), LARGE)).toMatchObject({
      maxInFlight: 2_048,
      maxQueued: 2_048,
      outgoing: 2_560,
      backlog: 4_096,
      binding: [],
    });
  });

  test('a_small_cluster_keeps_the_floor', () => {
    expect(sizeWorker(config({ PAGEFLEET_WORKERS: '3' }), LARGE)).toMatchObject({
      maxInFlight: 86,
      outgoing: 256,
    });
  });

  test('too_few_descriptors_take_from_the_pages_and_it_is_said', () => {
    const sizes = sizeWorker(config(FULL), { ...LARGE, descriptors: 2_048, somaxconn: 128 });
    expect(sizes.maxInFlight + sizes.maxQueued + sizes.outgoing).toBeLessThanOrEqual(2_048 - 256);
    expect(sizes.backlog).toBe(128);
    expect(sizes.binding).toHaveLength(2);
  });

  test('threads_that_the_cgroup_does_not_allow_are_not_started_and_it_is_said', () => {
    const env = { ...FULL, PAGEFLEET_LIMITS_PDF_THREADS: '16' };
    const sizes = sizeWorker(config(env), { ...LARGE, tasks: 100 });
    expect(sizes.pdfThreads).toBe(9);
    expect(sizes.binding).toEqual(['pdf_threads 16 → 9 by the tasks of the cgroup']);
    expect(sizeWorker(config(env), { ...LARGE, tasks: 1 }).pdfThreads).toBe(1);
  });

  test('fewer_pods_fed_than_max_pods_is_a_warning', () => {
    const env = {
      PAGEFLEET_WORKERS: '1',
      PAGEFLEET_LIMITS_MAX_IN_FLIGHT: '64',
      PAGEFLEET_POOLS: '[{"name":"a","width":64,"max_pods":4}]',
    };
    const sizes = sizeWorker(config(env), LARGE);
    expect(sizes.podsFed).toBe(1);
    expect(sizes.binding).toEqual(['only 1 pods can be fed to their width, max_pods is 4']);
  });
});
