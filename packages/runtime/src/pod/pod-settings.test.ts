import type { PodSettings, Pool } from '@pagefleet/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../config/load-config.ts';
import { configHashOf } from './config-hash.ts';
import {
  decodePodMark,
  decodePodSettings,
  defaultEngineSettings,
  encodePodSettings,
  podMarkOf,
} from './pod-settings.ts';

const text = (minLength = 0) => fc.string({ minLength, unit: 'grapheme' }).filter((t) => !t.includes('\0'));
const hex = (length: number) =>
  fc.string({ minLength: length, maxLength: length, unit: fc.constantFrom(...'0123456789abcdef') });
const oneOrMore = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }));

const anyOfAllEngines: fc.Arbitrary<PodSettings> = fc.record({
  clusterId: text(1),
  podKey: hex(32),
  keyId: text(1),
  pool: text(1),
  name: text(1),
  width: fc.integer({ min: 1, max: 1_024 }),
  configHash: text(1),
  spot: fc.boolean(),
  podId: text(1),
  token: hex(64),
  port: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 65_535 })),
  portFile: text(),
  host: text(),
  transport: fc.constantFrom('plain' as const, 'tls-psk' as const),
  deadManMs: fc.integer({ min: 1_000 }),
  removal: fc.constantFrom('exit' as const, 'runpod' as const),
  apiUrl: text(),
  graphqlUrl: text(),
  engine: fc.constantFrom('tesseract' as const, 'sleep' as const, 'surya' as const, 'olmocr' as const),
  languages: fc.array(text(), { maxLength: 3 }),
  dpi: fc.integer({ min: 72, max: 600 }),
  tesseract: fc.constantFrom('auto' as const, 'cli' as const, 'js' as const),
  pageTimeoutMs: oneOrMore,
  sleepMs: fc.oneof(fc.constant(0), fc.nat()),
  serverCommand: fc.array(text(), { maxLength: 3 }),
  serverEnv: fc.array(text(), { maxLength: 3 }),
  serverStartMs: fc.integer({ min: 1_000 }),
  readDpi: fc.integer({ min: 0, max: 600 }),
  readMaxTokens: fc.nat(),
  readContinuations: fc.nat(),
  readRetries: fc.integer({ min: -1 }),
  readTimeoutMs: oneOrMore,
  loopAbort: fc.boolean(),
  loopFirstLook: oneOrMore,
  loopStep: oneOrMore,
  loopHits: oneOrMore,
  prompts: text(),
  accentRepair: fc.boolean(),
  tokenTrace: fc.boolean(),
  maxPixels: oneOrMore,
  maxPageBytes: oneOrMore,
  stallMs: oneOrMore,
  fatalStallMs: oneOrMore,
  logLevel: text(),
});

/** Which engines have which settings, written once more by hand: the schema alone would agree with itself. */
const ENGINES_OF: [string, RegExp][] = [
  ['tesseract', /^(languages|dpi|tesseract|pageTimeoutMs)$/],
  ['sleep', /^sleepMs$/],
  ['surya olmocr', /^(server|read|loop|prompts$|accentRepair$|tokenTrace$)/],
];
const isOf = (engine: string, field: string) =>
  ENGINES_OF.every(([engines, fields]) => !fields.test(field) || engines.includes(engine));

/** Settings as a pod has them: those that its engine does not have are at their defaults. */
const anySettings = anyOfAllEngines.map((settings): PodSettings => {
  const other = Object.entries(defaultEngineSettings()).filter(([field]) => !isOf(settings.engine, field));
  return { ...settings, ...Object.fromEntries(other) };
});

const [example] = fc.sample(anySettings, { numRuns: 1, seed: 1 }) as [PodSettings];

describe('pod settings in the environment (R-042, L15)', () => {
  it('what_is_sent_comes_back_the_same', () => {
    fc.assert(
      fc.property(anySettings, (settings) => {
        expect(decodePodSettings(encodePodSettings(settings))).toEqual({ settings, unknown: [] });
      }),
    );
  });

  it.each(['tesseract', 'sleep', 'surya', 'olmocr'] as const)(
    'every_setting_of_%s_is_sent_and_every_variable_sent_is_read',
    (engine) => {
      const optional = { port: 8000, portFile: '/p', apiUrl: 'http://a', graphqlUrl: 'http://g' };
      const budgets = { readDpi: 100, readMaxTokens: 9, readContinuations: 1, prompts: '/prompts' };
      const settings = { ...example, engine, ...optional, ...budgets };
      const sent = encodePodSettings(settings);
      expect(Object.keys(sent)).toHaveLength(
        Object.keys(settings).filter((field) => isOf(engine, field)).length,
      );
      const mayBeAbsent =
        /_(PORT|PORT_FILE|API_URL|GRAPHQL_URL|READ_DPI|READ_MAX_TOKENS|READ_CONTINUATIONS|PROMPTS)$/;
      for (const name of Object.keys(sent).filter((variable) => !mayBeAbsent.test(variable))) {
        const { [name]: _, ...rest } = sent;
        expect(() => decodePodSettings(rest), name).toThrow(name);
      }
      // RunPod takes 50 variables of a pod (contract 6.4).
      expect(Object.keys(sent).length).toBeLessThanOrEqual(50);
    },
  );

  it('a_number_whose_0_means_default_is_left_out_and_comes_back_as_0', () => {
    const sent = encodePodSettings({ ...example, port: 0 });
    expect(sent).not.toHaveProperty('PAGEFLEET_POD_PORT');
    expect(decodePodSettings(sent).settings.port).toBe(0);
    expect(decodePodSettings({ ...sent, PAGEFLEET_POD_PORT: '0' }).settings.port).toBe(0);
  });

  it('a_text_that_is_empty_by_default_is_left_out_and_comes_back_empty', () => {
    const settings = { ...example, portFile: '', apiUrl: '', graphqlUrl: '' };
    const sent = encodePodSettings(settings);
    expect(Object.keys(sent).filter((name) => /FILE|URL/.test(name))).toEqual([]);
    expect(decodePodSettings(sent).settings).toEqual(settings);
    expect(encodePodSettings({ ...example, host: '' }).PAGEFLEET_POD_HOST).toBe('');
  });

  it('an_id_that_only_the_provider_knows_comes_from_the_provider', () => {
    const sent = encodePodSettings({ ...example, podId: null });
    expect(decodePodSettings({ ...sent, RUNPOD_POD_ID: 'abc123' }).settings).toEqual({
      ...example,
      podId: 'abc123',
    });
    expect(() => decodePodSettings(sent)).toThrow('PAGEFLEET_POD_POD_ID');
    const told = { ...encodePodSettings(example), RUNPOD_POD_ID: 'abc123' };
    expect(decodePodSettings(told).settings.podId).toBe(example.podId);
  });

  it('a_number_whose_0_means_0_is_sent_as_0', () => {
    const sent = encodePodSettings({ ...example, engine: 'sleep', sleepMs: 0 });
    expect(sent.PAGEFLEET_POD_SLEEP_MS).toBe('0');
    const { PAGEFLEET_POD_SLEEP_MS: _, ...rest } = sent;
    expect(() => decodePodSettings(rest)).toThrow('PAGEFLEET_POD_SLEEP_MS');
  });

  it('a_flag_is_always_sent_as_1_or_0', () => {
    expect(encodePodSettings({ ...example, spot: true }).PAGEFLEET_POD_SPOT).toBe('1');
    expect(encodePodSettings({ ...example, spot: false }).PAGEFLEET_POD_SPOT).toBe('0');
  });

  it('a_flag_is_read_as_true_for_1_true_yes_on_only', () => {
    const read = (flag: string) =>
      decodePodSettings({ ...encodePodSettings(example), PAGEFLEET_POD_SPOT: flag }).settings.spot;
    for (const flag of ['1', 'true', 'yes', 'on', 'TRUE', ' on ']) expect(read(flag), flag).toBe(true);
    for (const flag of ['0', 'false', 'no', 'off', '', '2', '01', 'y', 'enabled']) {
      expect(read(flag), flag).toBe(false);
    }
  });

  it('variables_that_this_version_does_not_know_are_named', () => {
    const env = { ...encodePodSettings(example), PAGEFLEET_POD_TURBO: '1', PAGEFLEET_STATE: 'x', HOME: '/' };
    expect(decodePodSettings(env).unknown).toEqual(['PAGEFLEET_POD_TURBO']);
  });

  it.each([
    ['PAGEFLEET_POD_WIDTH', 'wide'],
    ['PAGEFLEET_POD_WIDTH', ''],
    ['PAGEFLEET_POD_WIDTH', '0'],
    ['PAGEFLEET_POD_WIDTH', '0x10'],
    ['PAGEFLEET_POD_WIDTH', '1.5'],
    ['PAGEFLEET_POD_ENGINE', 'dream'],
    ['PAGEFLEET_POD_LANGUAGES', 'eng'],
    ['PAGEFLEET_POD_LANGUAGES', '[1]'],
    ['PAGEFLEET_POD_TOKEN', 'short'],
    ['PAGEFLEET_POD_LOOP_HITS', '0'],
    ['PAGEFLEET_POD_SERVER_COMMAND', 'vllm'],
  ])('%s=%s is refused by name', (name, value) => {
    const engine = /LOOP|SERVER/.test(name) ? 'surya' : 'tesseract';
    expect(() => decodePodSettings({ ...encodePodSettings({ ...example, engine }), [name]: value })).toThrow(
      expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(name) }),
    );
  });

  it('a_refusal_does_not_show_the_token', () => {
    const env = { ...encodePodSettings(example), PAGEFLEET_POD_TOKEN: 'not-long-enough' };
    expect(() => decodePodSettings(env)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('not-long-enough') }),
    );
  });

  it('the_mark_is_read_back_alone_whatever_the_other_settings_are', () => {
    fc.assert(
      fc.property(anySettings, (settings) => {
        const { PAGEFLEET_POD_TOKEN: _, ...listed } = encodePodSettings(settings);
        const newer = { ...listed, PAGEFLEET_POD_ENGINE: 'dream', PAGEFLEET_POD_TURBO: '1', PATH: '/bin' };
        expect(decodePodMark(newer)).toEqual(podMarkOf(settings));
      }),
    );
    const sent = encodePodSettings(example);
    for (const wrong of [{}, { ...sent, PAGEFLEET_POD_POD_KEY: 'x' }, { ...sent, PAGEFLEET_POD_WIDTH: '0' }])
      expect(decodePodMark(wrong)).toBeNull();
  });

  it('the_mark_holds_no_secret', () => {
    const mark = podMarkOf(example);
    expect(mark).toMatchObject({ clusterId: example.clusterId, podKey: example.podKey, spot: example.spot });
    expect(Object.values(mark)).not.toContain(example.token);
    expect(mark).not.toHaveProperty('token');
  });
});

describe('configHashOf', () => {
  const pool = loadConfig({ env: {}, cwd: import.meta.dirname }).config.pools[0] as Pool;

  it('changes_with_what_reaches_the_pod_and_with_nothing_else', () => {
    const hash = configHashOf(pool);
    expect(hash).toMatch(/^[0-9a-f]{16}$/);
    expect(configHashOf({ ...pool })).toBe(hash);
    for (const same of [{ maxPods: 9 }, { minPods: 0 }, { idleTimeoutMs: 1 }, { models: ['m'] }]) {
      expect(configHashOf({ ...pool, ...same })).toBe(hash);
    }
    for (const other of [{ width: 2 }, { dpi: 300 }, { languages: ['deu'] }, { engine: 'sleep' as const }]) {
      expect(configHashOf({ ...pool, ...other })).not.toBe(hash);
    }
  });

  it('of_an_engine_on_a_model_server_what_the_worker_does_is_not_the_pods_business', () => {
    const surya: Pool = { ...pool, engine: 'surya', provider: 'runpod', placement: 'worker' };
    const onPod: Pool = { ...surya, placement: 'pod' };
    const reading = { ...pool.reading, retries: 0 };
    expect(configHashOf({ ...surya, reading, dpi: 300 })).toBe(configHashOf(surya));
    expect(configHashOf({ ...onPod, reading })).not.toBe(configHashOf(onPod));
    expect(configHashOf(onPod)).not.toBe(configHashOf(surya));
    expect(configHashOf({ ...surya, placement: 'auto' })).toBe(configHashOf(surya));
    for (const other of [{ models: ['gpt'] }, { vllm: { ...pool.vllm, maxModelLen: 9 } }]) {
      expect(configHashOf({ ...surya, ...other })).not.toBe(configHashOf(surya));
    }
  });
});
