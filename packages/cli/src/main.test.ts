import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { programPath } from '@pagefleet/runtime';
import { describe, expect, test } from 'vitest';

describe('the command line', () => {
  test('a_terminal_or_a_reader_that_goes_away_is_no_error', { timeout: 60_000 }, async () => {
    const child = spawn(process.execPath, [programPath('cli'), 'config', 'docs'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(said).toBe('');
  });
});
