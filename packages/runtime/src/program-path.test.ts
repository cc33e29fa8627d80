import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isBinary, programPath, realNodeBinary, repoRoot } from './program-path.ts';

describe('paths of programs', () => {
  it('the_repository_is_the_folder_with_the_workspace', () => {
    expect(existsSync(join(repoRoot(), 'pnpm-workspace.yaml'))).toBe(true);
    expect(programPath('worker')).toBe(join(repoRoot(), 'packages/worker/src/main.ts'));
  });
});

describe('realNodeBinary', () => {
  it('is_the_binary_that_runs_this_test', () => {
    expect(realNodeBinary()).toBe(process.execPath);
    expect(isBinary(process.execPath)).toBe(true);
  });

  it('a_shell_wrapper_is_told_from_a_binary', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pagefleet-wrapper-'));
    const wrapper = join(folder, 'node');
    writeFileSync(wrapper, '#!/bin/sh\nexec node "$@"\n', { mode: 0o755 });
    expect(isBinary(wrapper)).toBe(false);
    rmSync(folder, { recursive: true });
  });
});
