import { ENGINE_PROFILES, PodSettings, type Pool, PROFILE_NAMES } from '@pagefleet/contract';
import { launchCommand } from '@pagefleet/core';
import { encodePodSettings, loadConfig } from '@pagefleet/runtime';
import { describe, expect, test } from 'vitest';
import { buildGraphqlCreate, buildRestCreate } from '../runpod/build-create.ts';
import { rentRequest } from '../runpod/rent-kit.ts';
import { companionCommand, joinParts } from './start-command.ts';

const { entrypoint, cmd } = companionCommand();
const code = cmd[1] ?? '';
const pool = loadConfig({ env: {}, cwd: '/' }).config.pools[0] as Pool;

/** What the loader wrote into the program. */
function filled(): [Record<string, [string, string, unknown, string | null]>, number, string[]] {
  const [, text = ''] = /^SETTINGS, SETTINGS_VERSION, MODEL_PATHS = json\.loads\((.*)\)$/m.exec(code) ?? [];
  return JSON.parse(JSON.parse(text));
}

describe('the start command of a stock image (decision 0012)', () => {
  test('is_one_Python_program_without_imports_of_its_parts_or_words_for_readers', () => {
    expect([entrypoint, cmd[0]]).toEqual([['python3'], '-c']);
    expect(code).not.toMatch(/^from (wire|removal|model_server|exchange|pages)|"""|^ *#/m);
    expect(code).toMatch(/^class ModelServer:/m);
    expect(code.endsWith('asyncio.run(main())\n')).toBe(true);
  });

  test('keeps_every_line_that_does_something', () => {
    const source =
      'import os\n"""what\nit is"""\n\n\ndef f():\n    """Why."""\n    # because\n    return "#"\n';
    expect(joinParts([source])).toBe('import os\ndef f():\n return "#"\n');
  });

  test.each(PROFILE_NAMES)('knows_every_setting_that_a_pod_of_%s_is_told (R-042, law L15)', (engine) => {
    const { mark, settings } = rentRequest();
    const told = encodePodSettings({ ...mark, ...settings, engine, podId: 'p', portFile: '/f', port: 1 });
    const [table] = filled();
    expect(Object.keys(told).filter((variable) => !(variable in table))).toEqual([]);
    const missing = Object.entries(table).filter(
      ([name, [, , absent]]) => absent === null && !(name in told),
    );
    expect(missing).toEqual([]);
  });

  test('reads_each_kind_as_the_schema_writes_it', () => {
    const [table] = filled();
    const kindOf = (name: string) => table[`PAGEFLEET_POD_${name}`]?.slice(1);
    expect(kindOf('SERVER_COMMAND')).toEqual(['array', null, null]);
    expect(kindOf('SPOT')).toEqual(['boolean', null, null]);
    expect(kindOf('PORT')).toEqual(['integer', 0, null]);
    expect(kindOf('REMOVAL')).toEqual(['string', null, null]);
    expect(kindOf('POD_ID')).toEqual(['string', null, 'RUNPOD_POD_ID']);
    expect(Object.values(table).map(([field]) => field)).not.toContain('sleepMs');
    expect(Object.keys(PodSettings.properties)).toEqual(
      expect.arrayContaining(Object.values(table).map(([field]) => field)),
    );
  });

  test.each(PROFILE_NAMES)('fits_with_the_settings_of_%s_into_a_create (contract 4.6)', (engine) => {
    const loras = Array.from({ length: 32 }, (_, n) => ({ name: `adapter-${n}`, path: 'a'.repeat(300) }));
    const big = { ...pool, width: 512, vllm: { ...pool.vllm, loras, args: Array(64).fill('b'.repeat(200)) } };
    const launch = launchCommand(ENGINE_PROFILES[engine], big, 96);
    const base = rentRequest({ entrypoint, startCommand: cmd, transport: 'proxy' });
    const request = {
      ...base,
      settings: {
        ...base.settings,
        ...{ engine, serverCommand: [...launch.command], serverEnv: [...launch.env] },
      },
    };
    const plan = {
      ...{ request, machine: request.machine as NonNullable<typeof request.machine> },
      ...{ constraints: { dataCenters: [], minVcpu: 0, minMemoryGb: 0 }, withGlobalVolume: false },
    };
    for (const { body } of [buildRestCreate(plan), buildGraphqlCreate(plan)])
      expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(102_400);
    expect(Object.keys(buildRestCreate(plan).body as { env: object }).length).toBeGreaterThan(0);
    const { env } = buildRestCreate(plan).body as { env: Record<string, string> };
    // GraphQL takes no more.
    expect(Object.keys(env).length).toBeLessThanOrEqual(50);
  });

  test('holds_no_secret_as_a_listing_shows_it (R-025)', () => {
    const { settings, mark } = rentRequest();
    expect(code).not.toContain(settings.token);
    expect(code).not.toContain(mark.podKey);
  });
});
