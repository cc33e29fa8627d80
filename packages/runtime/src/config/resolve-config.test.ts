import { describe, expect, it } from 'vitest';
import { loadConfig } from './load-config.ts';

describe('paths in the configuration', () => {
  const from = (env: NodeJS.ProcessEnv) => loadConfig({ env, cwd: '/srv/ocr' }).config;

  it('are_taken_from_the_folder_of_the_file_and_a_key_that_is_not_named_stays_none (R-037)', () => {
    expect(from({})).toMatchObject({ stateDir: '/srv/ocr/.pagefleet', secretKeyFile: '' });
    expect(from({ PAGEFLEET_SECRET_KEY_FILE: 'keys/pods' }).secretKeyFile).toBe('/srv/ocr/keys/pods');
    expect(from({ PAGEFLEET_SECRET_KEY_FILE: '/run/secrets/k' }).secretKeyFile).toBe('/run/secrets/k');
  });

  it('lead_to_prompts_where_pages_are_prompted_on_this_machine_and_stay_as_they_are_for_a_pod (R-070)', () => {
    const prompts = (pool: object) =>
      from({
        PAGEFLEET_POOLS: JSON.stringify([{ name: 'ocr', ...pool }]),
        PAGEFLEET_MONEY: '{"usd_per_hour": 1, "usd_per_day": 9}',
      }).pools[0]?.reading.prompts;
    const rented = { provider: 'runpod', engine: 'surya', machine: { max_usd_per_hour: 1 } };
    expect(prompts({ ...rented, reading: { prompts: 'mine' } })).toBe('/srv/ocr/mine');
    expect(prompts({ engine: 'surya', reading: { prompts: 'mine' } })).toBe('/srv/ocr/mine');
    const inPod = { ...rented, placement: 'pod', machine: { max_usd_per_hour: 1, image: 'our/image' } };
    expect(prompts({ ...inPod, reading: { prompts: '/opt/mine' } })).toBe('/opt/mine');
    expect(prompts(rented)).toBe('');
  });
});
