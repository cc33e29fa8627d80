import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeFolder } from './make-folder.ts';

// Other processes are started here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pagefleet-folder-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('makeFolder', () => {
  it('makes_every_missing_folder_with_the_mode_and_leaves_those_that_exist', () => {
    const path = join(folder, 'a', 'b');
    makeFolder(path, 0o700);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700);
    makeFolder(path, 0o755);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  it('a_file_in_the_way_is_an_error', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => makeFolder(join(folder, 'file'))).toThrow('EEXIST');
    expect(() => makeFolder(join(folder, 'file', 'b'))).toThrow('ENOTDIR');
  });

  it('a_link_that_leads_nowhere_is_an_error', () => {
    symlinkSync(join(folder, 'nowhere'), join(folder, 'link'));
    expect(() => makeFolder(join(folder, 'link', 'b'))).toThrow('EEXIST');
  });

  /** In a process of its own: what hangs here hangs for good. */
  it.runIf(process.platform === 'linux')('where_no_folder_can_be_made_it_fails_at_once', () => {
    const script = `import(${JSON.stringify(join(import.meta.dirname, 'make-folder.ts'))}).then(
      ({ makeFolder }) => makeFolder('/proc/x/y')).catch((error) => { process.stdout.write(error.code); });`;
    const { stdout } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8', timeout: 20_000 });
    expect(stdout).toBe('ENOENT');
  });
});
