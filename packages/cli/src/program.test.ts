import { afterEach, describe, expect, test, vi } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { createProgram } from './program.ts';

afterEach(() => vi.restoreAllMocks());

describe('pagefleet', () => {
  test('says_its_version', async () => {
    const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const program = createProgram(() => undefined).exitOverride();
    await expect(program.parseAsync(['node', 'pagefleet', '--version'])).rejects.toMatchObject({
      exitCode: 0,
    });
    expect(printed.mock.calls.join()).toContain(packageJson.version);
  });
});
