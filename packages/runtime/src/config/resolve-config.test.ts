import { describe, expect, it } from 'vitest';
import { loadConfig } from './load-config.ts';

describe('paths in the configuration', () => {
  const from = (env: NodeJS.ProcessEnv) => loadConfig({ env, cwd: '/srv/ocr' }).config;

  it('are_taken_from_the_folder_of_the_file_and_a_key_that_is_not_named_stays_none (R-037)', () => {
    expect(from({})).toMatchObject({ stateDir: '/srv/ocr/.pagefleet', secretKeyFile: '' });
    expect(from({ PAGEFLEET_SECRET_KEY_FILE: 'keys/pods' }).secretKeyFile).toBe('/srv/ocr/keys/pods');
    expect(from({ PAGEFLEET_SECRET_KEY_FILE: '/run/secrets/k' }).secretKeyFile).toBe('/run/secrets/k');
  });
});
