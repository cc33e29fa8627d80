import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PagefleetError } from '@pagefleet/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigIssue } from './config-issue.ts';
import { loadConfig } from './load-config.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'pagefleet-config-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

function load(yaml: string | null, env: Record<string, string> = {}) {
  if (yaml !== null) writeFileSync(join(cwd, 'pagefleet.yaml'), yaml);
  return loadConfig({ env, cwd });
}

function issuesOf(yaml: string | null, env: Record<string, string> = {}): ConfigIssue[] {
  try {
    load(yaml, env);
  } catch (error) {
    expect(error).toBeInstanceOf(PagefleetError);
    expect((error as PagefleetError).code).toBe('config_invalid');
    return (error as PagefleetError).details.issues as ConfigIssue[];
  }
  throw new Error('the configuration was accepted');
}

const KEY = 'a'.repeat(64);

describe('where a value comes from', () => {
  it('everything_has_a_default_and_no_file_is_needed', () => {
    const { config, file, origins } = load(null);
    expect(file).toBeNull();
    expect(config.listen).toEqual({ host: '127.0.0.1', port: 8080 });
    expect(config.limits.pageDeadlineMs).toBe(600_000);
    expect(config.limits.maxBodyBytes).toBe(256_000_000);
    expect(config.pools).toHaveLength(1);
    expect(new Set([...origins.values()].map(({ from }) => from))).toEqual(new Set(['default']));
  });

  it('the_file_wins_over_the_default_and_the_environment_over_the_file', () => {
    const { config, origins } = load('limits:\n  max_in_flight: 10\n  max_queued: 20\n', {
      PAGEFLEET_LIMITS_MAX_QUEUED: '30',
    });
    expect(config.limits).toMatchObject({ maxInFlight: 10, maxQueued: 30, pdfThreads: 2 });
    expect(origins.get('limits.max_in_flight')).toEqual({ from: 'file', name: 'pagefleet.yaml line 2' });
    expect(origins.get('limits.max_queued')).toEqual({
      from: 'environment',
      name: 'PAGEFLEET_LIMITS_MAX_QUEUED',
    });
    expect(origins.get('limits.pdf_threads')).toEqual({ from: 'default' });
  });

  it('values_inside_a_list_know_their_line', () => {
    const { origins } = load('pools:\n  - name: a\n    max_pods: 3\n  - name: b\n');
    expect(origins.get('pools[0].max_pods')).toEqual({ from: 'file', name: 'pagefleet.yaml line 3' });
    expect(origins.get('pools[1].name')).toEqual({ from: 'file', name: 'pagefleet.yaml line 4' });
    expect(origins.get('pools[1].max_pods')).toEqual({ from: 'default' });
  });

  it('lists_and_sections_are_yaml_text_in_their_variable', () => {
    const { config, origins } = load('limits: {max_in_flight: 5, max_queued: 6}', {
      PAGEFLEET_POOLS: '[{name: x, engine: sleep, sleep: 250ms, max_pods: 0}]',
      PAGEFLEET_LIMITS: '{max_queued: 7}',
    });
    expect(config.pools[0]).toMatchObject({ name: 'x', engine: 'sleep', sleepMs: 250, maxPods: 0 });
    expect(config.limits).toMatchObject({ maxInFlight: 5, maxQueued: 7 });
    expect(origins.get('pools[0].name')).toEqual({ from: 'environment', name: 'PAGEFLEET_POOLS' });
    expect(origins.get('pools[0].width')).toEqual({ from: 'default' });
    expect(origins.get('limits.max_in_flight')?.from).toBe('file');
  });

  it('the_variable_of_a_setting_wins_over_the_one_of_its_section', () => {
    const env = { PAGEFLEET_LISTEN_PORT: '1234', PAGEFLEET_LISTEN: '{port: 99, host: "::1"}' };
    const { config, origins } = load(null, env);
    expect(config.listen).toEqual({ host: '::1', port: 1234 });
    expect(origins.get('listen.port')?.name).toBe('PAGEFLEET_LISTEN_PORT');
    expect(origins.get('listen.host')?.name).toBe('PAGEFLEET_LISTEN');
  });

  it('a_section_left_empty_means_its_defaults', () => {
    expect(load('limits:\n  # max_in_flight: 3\nlisten:\n').config.limits.maxInFlight).toBe(256);
  });

  it('the_state_directory_is_relative_to_the_file', () => {
    writeFileSync(join(cwd, 'other.yaml'), 'state_dir: here');
    const loaded = loadConfig({ file: 'other.yaml', env: {}, cwd });
    expect(loaded.config.stateDir).toBe(join(cwd, 'here'));
    expect(loaded.file).toBe(join(cwd, 'other.yaml'));
  });

  it('workers_auto_is_the_number_of_cores_and_0_stays_0', () => {
    expect(load(null).config.workers).toBe(availableParallelism());
    expect(load('workers: 0').config.workers).toBe(0);
    expect(load(null, { PAGEFLEET_WORKERS: 'auto' }).config.workers).toBe(availableParallelism());
    expect(load(null, { PAGEFLEET_WORKERS: '3' }).config.workers).toBe(3);
  });

  it('the_written_form_read_again_gives_the_same_configuration', () => {
    const first = load('cluster: abc\npools: [{name: a, models: [m1], page_timeout: 90s}]\n');
    const again = loadConfig({ env: { PAGEFLEET_POOLS: JSON.stringify(first.written.pools) }, cwd });
    expect(again.config).toEqual(first.config);
    expect(again.written).toEqual(first.written);
  });

  it('all_of_it_is_frozen', () => {
    const { config, written } = load(null);
    expect(() => Object.assign(config.limits, { maxInFlight: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config.pools[0] ?? {}, { maxPods: 9 })).toThrow(TypeError);
    expect(() => (written.pools as unknown[]).push({})).toThrow(TypeError);
  });

  it('variables_that_are_no_settings_are_left_alone', () => {
    const env = { PAGEFLEET_STATE: '/x', PAGEFLEET_POD_TOKEN: 'y', PAGEFLEETISH: 'z', PATH: '/bin' };
    expect(load(null, env).config.stateDir).toBe(join(cwd, '.pagefleet'));
  });
});

describe('what is refused', () => {
  it('an_unknown_key_with_the_nearest_known_one', () => {
    expect(issuesOf('limits:\n  max_inflight: 3\n')).toEqual([
      {
        path: 'limits.max_inflight',
        got: 'an unknown key',
        expected: 'max_in_flight, perhaps',
        from: 'pagefleet.yaml line 2',
      },
    ]);
    expect(issuesOf('pools: [{name: a, max_pod: 1}]')[0]).toMatchObject({
      path: 'pools[0].max_pod',
      expected: 'max_pods, perhaps',
    });
  });

  it('an_unknown_key_that_resembles_nothing_with_the_list_of_keys', () => {
    expect(issuesOf('listen: {zzzzzzzz: 1}')[0]?.expected).toBe('one of host, port');
  });

  it('an_unknown_variable_with_the_nearest_known_one', () => {
    expect(issuesOf(null, { PAGEFLEET_LIMITS_MAX_INFLIGHT: '3' })).toMatchObject([
      { path: 'PAGEFLEET_LIMITS_MAX_INFLIGHT', expected: 'PAGEFLEET_LIMITS_MAX_IN_FLIGHT, perhaps' },
    ]);
  });

  it('all_problems_at_once_from_file_and_environment_and_between_settings', () => {
    const yaml = 'cluster: Bad Name\nlisten: {port: 99999}\npools: [{name: a, min_pods: 3, max_pods: 2}]\n';
    const issues = issuesOf(yaml, { PAGEFLEET_LIMITS_MAX_WAIT: 'soon', PAGEFLEET_NONSENSE_AT_ALL: '1' });
    expect(issues.map(({ path }) => path).sort()).toEqual([
      'PAGEFLEET_NONSENSE_AT_ALL',
      'cluster',
      'limits.max_wait',
      'listen.port',
      'pools[0].min_pods',
    ]);
    expect(issues.find(({ path }) => path === 'limits.max_wait')).toEqual({
      path: 'limits.max_wait',
      got: '"soon"',
      expected: 'a duration from 0 to 1h, such as 90s or 10m',
      from: 'PAGEFLEET_LIMITS_MAX_WAIT',
    });
  });

  it('the_message_names_path_got_expected_and_line', () => {
    expect(() => load('\nlimits: {max_in_flight: 0}')).toThrow(
      'The configuration has a problem:\n' +
        '  limits.max_in_flight: got 0, expected an integer from 1 to 16384 (pagefleet.yaml line 2)',
    );
  });

  it.each([
    ['limits: {max_in_flight: "12"}', 'limits.max_in_flight', '"12"'],
    ['limits: {max_in_flight: 1.5}', 'limits.max_in_flight', '1.5'],
    ['limits: {max_in_flight: .inf}', 'limits.max_in_flight', 'Infinity'],
    ['limits: {page_deadline: 600}', 'limits.page_deadline', '600'],
    ['limits: {page_deadline: 15m}', 'limits.page_deadline', '"15m"'],
    ['limits: {max_body: 5TB}', 'limits.max_body', '"5TB"'],
    ['limits: {max_body: 0}', 'limits.max_body', '"0"'],
    ['limits: [1]', 'limits', 'a list of 1'],
    ['limits: 3', 'limits', '3'],
    ['workers: many', 'workers', '"many"'],
    ['workers: 65', 'workers', '65'],
    ['log_level: loud', 'log_level', '"loud"'],
    ['pools: []', 'pools', 'a list of 0'],
    ['pools: {name: a}', 'pools', 'a mapping'],
    ['pools: [{}]', 'pools[0].name', 'nothing'],
    ['pools: [a]', 'pools[0]', '"a"'],
    ['pools: [{name: a, languages: []}]', 'pools[0].languages', 'a list of 0'],
    ['listen: {host: ""}', 'listen.host', '""'],
    ['pools: [{name: a, page_timeout: 15m}]', 'pools[0].page_timeout', '"15m"'],
    ['cluster: "a\\0"', 'cluster', '"a\\u0000"'],
    ['- a', 'configuration', 'a list of 1'],
  ])('%s', (yaml, path, got) => {
    expect(issuesOf(yaml)).toContainEqual(expect.objectContaining({ path, got }));
  });

  it('a_file_that_is_a_list_by_its_name', () => {
    expect(() => load('- a')).toThrow(/configuration: got a list of 1, .*\(pagefleet\.yaml\)/);
  });

  it('a_state_directory_that_nginx_cannot_name_with_the_character', () => {
    expect(issuesOf('state_dir: "/tmp/a b"')).toEqual([
      {
        path: 'state_dir',
        got: '"/tmp/a b", which holds the character " "',
        expected: 'a path that nginx and supervisord can take',
        from: 'pagefleet.yaml line 1',
      },
    ]);
  });

  it('a_key_written_twice_with_its_line', () => {
    expect(issuesOf('listen:\n  port: 1\n  host: localhost\n  port: 2\n')).toEqual([
      {
        path: 'pagefleet.yaml',
        got: 'a key twice: port',
        expected: 'each key once',
        from: 'pagefleet.yaml line 4',
      },
    ]);
  });

  it.each([
    ['a: 1\nb: "open\n', 'text that is not YAML: Missing closing "quote', 'YAML'],
    ['a: b: c\n', /^text that is not YAML: Nested mappings are not allowed/, 'YAML'],
    ['a: 1\n---\nb: 2\n', 'a second document after ---', 'one document'],
    ['a: *nobody', /^an alias that cannot be followed: /, 'aliases of anchors that stand above them'],
  ])('the_parser_says_what_was_found_and_we_what_is_expected: %j', (yaml, got, expected) => {
    expect(issuesOf(yaml)[0]).toMatchObject({
      got: typeof got === 'string' ? got : expect.stringMatching(got),
      expected,
    });
  });

  it('broken_yaml_in_a_variable_says_what_the_setting_takes', () => {
    expect(issuesOf('', { PAGEFLEET_LISTEN: '{port: "1' })[0]).toEqual({
      path: 'listen',
      got: expect.stringMatching(/^text that is not YAML: /),
      expected: 'a mapping with host, port, as YAML text',
      from: 'PAGEFLEET_LISTEN',
    });
  });

  it('text_that_is_no_yaml_with_its_line', () => {
    expect(issuesOf('a: 1\nb: [1, 2\n')[0]).toMatchObject({ path: 'pagefleet.yaml' });
    expect(issuesOf('a: 1\n---\nb: 2\n')[0]).toMatchObject({ path: 'pagefleet.yaml' });
    expect(issuesOf('a: *nobody')[0]).toMatchObject({ path: 'pagefleet.yaml' });
    expect(issuesOf('', { PAGEFLEET_POOLS: '[{name: a, name: b}]' })[0]).toMatchObject({
      path: 'pools',
      got: 'a key twice: name',
      from: 'PAGEFLEET_POOLS',
    });
  });

  it('a_file_that_is_named_but_absent', () => {
    expect(() => loadConfig({ file: 'no.yaml', env: {}, cwd })).toThrow(/no\.yaml cannot be read/);
  });

  it('a_real_key_in_place_of_its_digest_without_showing_it', () => {
    const secret = 'sk-my-real-key';
    const issues = issuesOf(`api_keys: [{name: me, sha256: ${secret}}]`);
    expect(issues[0]).toMatchObject({ path: 'api_keys[0].sha256' });
    expect(JSON.stringify(issues)).not.toContain(secret);
  });
});

describe('settings that contradict each other', () => {
  it('an_open_address_needs_api_keys', () => {
    expect(issuesOf('listen: {host: 0.0.0.0}')).toMatchObject([{ path: 'listen.host', got: '"0.0.0.0"' }]);
    expect(load(`listen: {host: 0.0.0.0}\napi_keys: [{name: a, sha256: ${KEY}}]`).config.listen.host).toBe(
      '0.0.0.0',
    );
    for (const host of ['127.0.0.1', '127.8.0.1', '::1', 'localhost']) {
      expect(load(`listen: {host: "${host}"}`).config.listen.host).toBe(host);
    }
  });

  it.each([
    ['pools: [{name: a, min_pods: 3, max_pods: 2}]', 'pools[0].min_pods', 'at most max_pods (2)'],
    ['pools: [{name: a}, {name: b}, {name: a}]', 'pools[2].name', 'a name other than pools[0].name'],
    [
      'pools: [{name: a, models: [m]}, {name: b, models: [x, m]}]',
      'pools[1].models[1]',
      'a name other than pools[0].models[0]',
    ],
    ['pools: [{name: a, models: [b]}, {name: b}]', 'pools[0].models[0]', 'a name other than pools[1].name'],
    ['pools: [{name: a, fallback: a}]', 'pools[0].fallback', 'the name of another pool (there is none)'],
    ['pools: [{name: a, fallback: c}, {name: b}]', 'pools[0].fallback', 'the name of another pool (b)'],
    ['pools: [{name: a, width: 65}]', 'pools[0].width', 'at most limits.max_inflight_per_pod (64)'],
    ['pools: [{name: a, max_pods: 512}, {name: b, max_pods: 1}]', 'pools', 'at most 512 over all pools'],
    ['watchdog: {stall: 2m}', 'watchdog.stall', 'less than watchdog.fatal (1m)'],
    [
      'limits: {memory: 16MB, spool: 0, max_body: 17MB}',
      'limits.max_body',
      'at most the larger of limits.memory and limits.spool (16MB): a larger body could never be held',
    ],
    [
      'limits: {memory: 20MB, spool: 16MB, max_body: 30MB}',
      'limits.max_body',
      'at most the larger of limits.memory and limits.spool (20MB): a larger body could never be held',
    ],
    [
      'workers: 4\nlimits: {memory: 16MB, spool: 40MB, max_body: 11MB}',
      'limits.max_body',
      'at most the larger of limits.memory and limits.spool (40MB), divided by workers (4): a larger body could never be held',
    ],
    [
      'limits: {page_deadline: 20s, connect_timeout: 21s}',
      'limits.connect_timeout',
      'at most limits.page_deadline (20s): no page waits longer',
    ],
    [
      'limits: {page_deadline: 20s}\npools: [{name: a, page_timeout: 21s}]',
      'pools[0].page_timeout',
      'at most limits.page_deadline (20s): the page has failed by then',
    ],
    [
      'limits: {page_deadline: 20s}\npools: [{name: a, engine: sleep, sleep: 21s}]',
      'pools[0].sleep',
      'at most limits.page_deadline (20s): every page would fail',
    ],
    [
      'pools: [{name: a, boot_deadline: 10s, boot_estimate: 11s}]',
      'pools[0].boot_estimate',
      'at most boot_deadline (10s): a pod that boots longer is ended',
    ],
    [
      'control: {probe_interval: 10s}\npools: [{name: a, dead_man: 10s}]',
      'pools[0].dead_man',
      'more than control.probe_interval (10s): an idle pod may hear from its owner no more often',
    ],
    [
      `api_keys: [{name: a, sha256: ${KEY}}, {name: b, sha256: ${KEY}}]`,
      'api_keys[1].sha256',
      'a key of its own',
    ],
  ])('%s', (yaml, path, expected) => {
    expect(issuesOf(yaml)).toEqual([expect.objectContaining({ path, expected })]);
  });

  it('a_default_that_is_longer_than_a_deadline_somebody_wrote_is_no_fault', () => {
    expect(load('limits: {page_deadline: 1s}').config.pools[0]?.pageTimeoutMs).toBe(120_000);
    expect(load('workers: 64').config.limits.maxBodyBytes).toBe(256_000_000);
  });

  it('what_fits_exactly_is_allowed', () => {
    load(
      'workers: 4\nlimits: {spool: 40MB, memory: 16MB, max_body: 10MB, page_deadline: 20s, connect_timeout: 20s}',
    );
    load(
      'limits: {page_deadline: 20s}\npools: [{name: a, page_timeout: 20s, boot_deadline: 5s, boot_estimate: 5s}]',
    );
    load('control: {probe_interval: 10s}\npools: [{name: a, dead_man: 11s}]');
  });

  it('a_state_directory_too_deep_for_sockets', () => {
    expect(issuesOf(`state_dir: /${'d'.repeat(100)}`)).toMatchObject([{ path: 'state_dir' }]);
  });

  it('a_cap_of_0_and_a_floor_of_0_are_allowed', () => {
    expect(load('pools: [{name: a, min_pods: 0, max_pods: 0}]').config.pools[0]?.maxPods).toBe(0);
  });

  it('a_setting_that_is_wrong_in_itself_is_not_also_said_to_contradict_others', () => {
    const issues = issuesOf('pools: [{name: a, min_pods: 2, max_pods: ten}]');
    expect(issues.map(({ path }) => path)).toEqual(['pools[0].max_pods']);
    const keys = issuesOf('listen: {host: 0.0.0.0}\napi_keys: [{name: a, sha256: short}]');
    expect(keys.map(({ path }) => path)).toEqual(['api_keys[0].sha256']);
  });
});
