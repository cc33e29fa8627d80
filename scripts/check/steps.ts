import { join } from 'node:path';
import { checkBoundaries } from './boundaries.ts';
import { checkCorePurity } from './core-purity.ts';
import { checkDocuments } from './documents.ts';
import { checkFileSizes } from './file-sizes.ts';
import { checkLeftovers } from './leftovers.ts';
import { checkLockfileHosts } from './lockfile-hosts.ts';
import { checkPolicies } from './policies.ts';
import { runTool } from './tool.ts';

export interface Step {
  readonly name: string;
  /** what is wrong, one text each; empty = fine */
  run(root: string): Promise<string[]> | string[];
}

/** Quick ones first: their findings are printed as soon as they are known. */
export const STEPS: readonly Step[] = [
  { name: 'package boundaries', run: checkBoundaries },
  { name: 'core is pure', run: checkCorePurity },
  { name: 'file sizes', run: checkFileSizes },
  { name: 'one place only', run: checkPolicies },
  { name: 'leftovers', run: checkLeftovers },
  { name: 'no hosts in the lock file', run: checkLockfileHosts },
  { name: 'documents', run: checkDocuments },
  { name: 'format and lint', run: (root) => runTool(root, 'biome', ['check', '--error-on-warnings', '.']) },
  { name: 'types', run: (root) => runTool(root, 'tsc', ['-p', '.']) },
  { name: 'types of core', run: checkCoreTypes },
  { name: 'dead exports', run: (root) => runTool(root, 'knip', ['--no-progress', '--no-config-hints']) },
];

export const UNIT_STEP: Step = {
  name: 'unit tests',
  run: (root) => runTool(root, 'vitest', ['run', '--project', 'unit', '--reporter', 'dot']),
};

/** Core is compiled without Node's types: `process`, `fs`, `Buffer` and `URL` do not even exist there. */
function checkCoreTypes(root: string): Promise<string[]> {
  return runTool(root, 'tsc', ['-p', join('scripts', 'check', 'tsconfig.core.json')]);
}
