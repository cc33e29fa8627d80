import { encodePodSettings } from '@pagefleet/runtime';
import { describe, expect, it } from 'vitest';
import { parseTime, readListedPod } from './read-pod.ts';
import { rentRequest } from './rent-kit.ts';

const CREATED_MS = Date.UTC(2026, 10, 30, 10);
const { mark, settings } = rentRequest();
const ENV = encodePodSettings({ ...settings, ...mark, podId: null, portFile: '' });

function context(nowMs = 5) {
  return { nowMs: () => nowMs, loopbackIsPublic: false, firstSeenMs: new Map<string, number>() };
}

const REST = {
  id: 'k3v9q2m1x7abcd',
  name: 'renamed in the console',
  status: 'RUNNING',
  ports: ['8000/tcp'],
  env: ENV,
  gpu: { id: 'NVIDIA A40', count: 1 },
  cloud: 'COMMUNITY',
  cost: 0.44,
  runtime: { uptime: 412, ports: [{ private: 8000, public: 22056, type: 'tcp', ip: '194.68.245.18' }] },
  createdAt: '2026-11-30T10:00:00Z',
  startedAt: null,
};
const GRAPHQL = {
  id: 'k3v9q2m1x7abcd',
  name: 'renamed in the console',
  desiredStatus: 'RUNNING',
  lastStatusChange: 'Rented by User: Mon Nov 30 2026',
  ports: '8000/tcp,22/tcp',
  env: Object.entries(ENV).map(([key, value]) => `${key}=${value}`),
  machine: { gpuTypeId: 'NVIDIA A40', secureCloud: false },
  costPerHr: 0.44,
  runtime: {
    ports: [{ ip: '194.68.245.18', isIpPublic: true, privatePort: 8000, publicPort: 22056, type: 'tcp' }],
  },
  createdAt: '2026-11-30T10:00:00Z',
};
const rest = (changes: object) => readListedPod({ ...REST, ...changes }, 'rest', context());
const graphql = (changes: object) => readListedPod({ ...GRAPHQL, ...changes }, 'graphql', context());

describe('a pod of a listing', () => {
  it('is_the_same_whichever_API_lists_it', () => {
    const pod = {
      id: 'k3v9q2m1x7abcd',
      name: 'renamed in the console',
      mark,
      url: 'psk://194.68.245.18:22056',
      createdAtMs: CREATED_MS,
      priceUsdPerHour: 0.44,
      status: 'running',
      card: 'NVIDIA A40',
      cloud: 'community',
    };
    expect(rest({})).toEqual({ ...pod, detail: 'RUNNING' });
    expect(graphql({})).toEqual({ ...pod, detail: 'Rented by User: Mon Nov 30 2026' });
    expect(JSON.stringify([rest({}), graphql({})])).not.toContain(settings.token);
  });

  it('is_not_ours_unless_its_environment_says_so', () => {
    for (const env of [null, {}, { PATH: '/bin' }, { ...ENV, PAGEFLEET_POD_POD_KEY: 'short' }]) {
      expect(rest({ env })).toMatchObject({ id: REST.id, mark: null });
    }
    expect(graphql({ env: null })).toMatchObject({ mark: null });
    expect(graphql({ env: ['strange', 'A=b=c'] })).toMatchObject({ mark: null });
  });

  it.each([
    ['CREATED', 'starting'],
    ['PROVISIONING', 'starting'],
    ['STARTING', 'starting'],
    ['RESTARTING', 'starting'],
    ['RUNNING', 'running'],
    ['EXITED', 'exited'],
    ['PAUSED', 'exited'],
    ['ERROR', 'exited'],
    ['DEAD', 'exited'],
    ['NOVELTY', 'running'],
  ])('that is %s is %s', (word, status) => {
    expect(rest({ status: word })).toMatchObject({ status });
    expect(graphql({ desiredStatus: word })).toMatchObject({ status });
  });

  it('that_is_TERMINATED_is_gone', () => {
    expect(rest({ status: 'TERMINATED' })).toBeNull();
    expect(graphql({ desiredStatus: 'TERMINATED' })).toBeNull();
  });

  it('whose_runtime_is_missing_runs_and_only_its_address_is_not_known (contract 2.6)', () => {
    expect(rest({ runtime: null })).toMatchObject({ status: 'running', url: null });
    expect(graphql({ runtime: { ports: null } })).toMatchObject({ status: 'running', url: null });
  });

  it('that_is_stopped_has_no_address_although_it_shows_its_old_ports', () => {
    expect(rest({ status: 'EXITED' })).toMatchObject({ status: 'exited', url: null });
    const words = 'Outbid: Fri Jul 12 2024 15:14:40 GMT-0400 (Eastern Daylight Time)';
    expect(graphql({ desiredStatus: 'EXITED', lastStatusChange: words })).toMatchObject({
      status: 'exited',
      url: null,
      detail: words,
    });
  });

  it.each([
    [0.44, 0.44],
    ['0.44', 0.44],
    [null, null],
    [undefined, null],
    ['', null],
    ['free', null],
    [-1, null],
    [0, null],
  ])('has a price of %s: %s', (said, price) => {
    expect(rest({ cost: said })).toMatchObject({ priceUsdPerHour: price });
    expect(graphql({ costPerHr: said })).toMatchObject({ priceUsdPerHour: price });
  });

  it('costs_nothing_only_when_it_is_stopped', () => {
    expect(rest({ status: 'EXITED', cost: 0 })).toMatchObject({ priceUsdPerHour: 0 });
  });

  it('without_an_id_makes_the_listing_unreadable', () => {
    for (const entry of ['k3v9', { name: 'x' }, { id: '' }, { id: 5 }]) {
      expect(() => readListedPod(entry, 'rest', context())).toThrow('no id');
    }
  });

  it('that_tells_no_time_exists_since_it_was_first_met', () => {
    const pods = context(100);
    const entry = { ...REST, createdAt: null };
    expect(readListedPod(entry, 'rest', pods)?.createdAtMs).toBe(100);
    expect(readListedPod(entry, 'rest', { ...pods, nowMs: () => 900 })?.createdAtMs).toBe(100);
    expect(rest({ createdAt: '?', startedAt: '2026-11-30T10:00:00Z' })?.createdAtMs).toBe(CREATED_MS);
  });
});

describe('a time', () => {
  it.each([
    ['2026-11-30T10:00:00Z', CREATED_MS],
    ['2026-11-30T10:00:00.250Z', CREATED_MS + 250],
    ['2026-11-30 10:00:00.250123456 +0000 UTC', CREATED_MS + 250],
    ['2026-11-30 10:00:00.2 +0000 UTC', CREATED_MS + 200],
    ['2026-11-30 12:00:00 +0200 CEST', CREATED_MS],
    ['yesterday', null],
    ['5', null],
    [5, null],
    [null, null],
  ])('%s is read as %s', (text, ms) => {
    expect(parseTime(text)).toBe(ms);
  });
});
