import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

/** A copy that an unprivileged user may read, wherever the checkout lies. */
const scripts = mkdtempSync(join(tmpdir(), 'pf-install-'));
cpSync(join(import.meta.dirname, '..'), join(scripts, 'scripts'), { recursive: true });
spawnSync('chmod', ['-R', 'a+rX', scripts]);
afterAll(() => rmSync(scripts, { recursive: true, force: true }));

const MISSING = "[{ apt: 'no-such-package', program: 'no-such-program', brew: 'no-such-brew' }]";
const PRESENT = "[{ apt: 'base', program: 'sh', brew: 'base' }]";

/** `ensureSystemPackages` in a process of its own, as an ordinary user without a password for sudo. */
function ensure(packages: string, path: string) {
  const code = `import('${scripts}/scripts/install/system.mjs').then((m) => m.ensureSystemPackages(${packages}))`;
  const isRoot = process.getuid?.() === 0;
  return spawnSync(process.execPath, ['-e', code], {
    encoding: 'utf8',
    cwd: '/',
    env: { PATH: path },
    ...(isRoot ? { uid: 65_534, gid: 65_534 } : {}),
  });
}

describe('installing what is missing', () => {
  test('says_and_does_nothing_when_all_is_there', () => {
    const result = ensure(PRESENT, process.env.PATH ?? '');
    expect([result.status, result.stdout, result.stderr]).toEqual([0, '', '']);
  });

  test('without_root_it_names_what_is_missing_and_the_one_command_and_fails', () => {
    const result = ensure(MISSING, '/usr/bin:/bin');
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(
      /Missing: no-such-package.*\n\n {2}sudo sh .*apt-install\.sh no-such-package\n/s,
    );
  });

  test('without_apt_it_installs_nothing_and_says_what_is_needed', () => {
    const result = ensure(MISSING, '/nowhere');
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(/has no apt, so nothing was installed\. Please install: no-such-brew/);
  });
});
