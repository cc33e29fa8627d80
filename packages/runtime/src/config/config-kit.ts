import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PagefleetError } from '@pagefleet/contract';
import type { ConfigIssue } from './config-issue.ts';
import { loadConfig } from './load-config.ts';

/** Path and what was expected of all that is wrong with a configuration; for tests. */
export function wrong(config: object): Record<string, string> {
  const cwd = mkdtempSync(join(tmpdir(), 'pagefleet-config-'));
  try {
    writeFileSync(join(cwd, 'pagefleet.yaml'), JSON.stringify(config));
    loadConfig({ env: {}, cwd });
    return {};
  } catch (error) {
    if (!(error instanceof PagefleetError)) throw error;
    const issues = error.details.issues as ConfigIssue[];
    return Object.fromEntries(issues.map(({ path, expected }) => [path, expected]));
  } finally {
    rmSync(cwd, { recursive: true });
  }
}
