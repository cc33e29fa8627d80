import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { checkBoundaries } from './boundaries.ts';
import { checkCorePurity } from './core-purity.ts';
import { checkDocuments } from './documents.ts';
import { checkFileSizes } from './file-sizes.ts';
import { checkLeftovers } from './leftovers.ts';
import { checkLockfileHosts } from './lockfile-hosts.ts';
import { checkPolicies } from './policies.ts';
import { runTool } from './tool.ts';

const roots: string[] = [];

/** A tiny workspace that passes every rule, with some files replaced or added. */
function tree(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'pagefleet-check-'));
  roots.push(root);
  const clean = {
    'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
    'packages/contract/package.json': manifest('contract', { typebox: '1.4.3' }),
    'packages/contract/src/index.ts': 'export const ERRORS = {};\n',
    'packages/core/package.json': manifest('core', { '@pagefleet/contract': 'workspace:*' }),
    'packages/core/src/index.ts': "import type { Pod } from '@pagefleet/contract';\nexport type { Pod };\n",
  };
  for (const [path, text] of Object.entries({ ...clean, ...files })) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

function manifest(name: string, dependencies: Record<string, string>): string {
  return JSON.stringify({ name: `@pagefleet/${name}`, exports: { '.': './src/index.ts' }, dependencies });
}

afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

const core = (text: string) => ({ 'packages/core/src/planted.ts': text });
const lines = (count: number) => 'export {};\n'.repeat(count);

describe('pnpm check', () => {
  test('a_clean_tree_passes_every_rule', () => {
    const root = tree({});
    for (const rule of [
      checkBoundaries,
      checkCorePurity,
      checkFileSizes,
      checkLeftovers,
      checkLockfileHosts,
      checkPolicies,
    ]) {
      expect(rule(root)).toEqual([]);
    }
  });

  test.each<[string, (root: string) => string[], Record<string, string>, string]>([
    [
      'a_dependency_outside_the_table',
      checkBoundaries,
      { 'packages/core/package.json': manifest('core', { '@pagefleet/runtime': 'workspace:*' }) },
      'core may not depend on runtime',
    ],
    [
      'a_package_outside_the_table',
      checkBoundaries,
      { 'packages/extra/package.json': manifest('extra', {}) },
      'not in the table',
    ],
    [
      'an_undeclared_workspace_import',
      checkBoundaries,
      core("import { x } from '@pagefleet/runtime';\n"),
      "'@pagefleet/runtime' is not declared",
    ],
    ['an_undeclared_npm_import', checkBoundaries, core("import got from 'got';\n"), "'got' is not declared"],
    [
      'an_undeclared_dynamic_import',
      checkBoundaries,
      core("export const x = () => import('got');\n"),
      "'got' is not declared",
    ],
    [
      'an_import_spread_over_lines',
      checkBoundaries,
      core("import {\n  a,\n  b,\n} from 'got';\n"),
      "'got' is not declared",
    ],
    [
      'a_relative_import_across_packages',
      checkBoundaries,
      core("import { ERRORS } from '../../contract/src/index.ts';\n"),
      'leaves the package',
    ],
    [
      'an_undeclared_subpath',
      checkBoundaries,
      core("import type { x } from '@pagefleet/contract/inner';\n"),
      'no declared export',
    ],
    [
      'a_contract_value_in_core',
      checkCorePurity,
      core("import { ERRORS } from '@pagefleet/contract';\n"),
      'as types only',
    ],
    [
      'node_in_core',
      checkCorePurity,
      core("import { readFileSync } from 'node:fs';\n"),
      'imports nothing of Node',
    ],
    ['a_clock_in_core', checkCorePurity, core('export const t = () => Date.now();\n'), 'clock'],
    ['a_new_date_in_core', checkCorePurity, core('export const t = () => new Date();\n'), 'clock'],
    ['randomness_in_core', checkCorePurity, core('export const r = () => Math.random();\n'), 'randomness'],
    ['a_log_in_core', checkCorePurity, core("console.log('x');\n"), 'does not log'],
    ['a_promise_in_core', checkCorePurity, core('export async function f() {}\n'), 'no promises'],
    ['a_second_reader_of_the_cap', checkPolicies, core('export const cap = pool.maxPods;\n'), 'R-039'],
    [
      'a_reader_of_the_cap_in_a_worker',
      checkPolicies,
      { 'packages/dataplane/src/planted.ts': 'export const cap = pool.maxPods;\n' },
      'R-039',
    ],
    [
      'a_second_way_for_pods_to_get_in',
      checkPolicies,
      { 'packages/controller/src/planted.ts': 'enterRegistry(registry, pod, 0);\n' },
      'R-034',
    ],
    [
      'page_code_with_connections_of_its_own',
      checkPolicies,
      { 'packages/dataplane/src/planted.ts': 'const pool = new Pool(url);\n' },
      'R-012',
    ],
    [
      'a_blocking_call_in_a_server',
      checkPolicies,
      { 'packages/gateway/src/planted.ts': "readFileSync('x');\n" },
      'R-019',
    ],
    [
      'a_reference_page_that_is_not_what_the_schema_says',
      checkDocuments,
      { 'docs/config.md': 'old', 'docs/http-api.md': '' },
      'docs/config.md is not',
    ],
    [
      'an_error_code_that_is_not_documented',
      checkDocuments,
      { 'docs/config.md': '', 'docs/http-api.md': '' },
      'lacks the row: | `queue_full`',
    ],
    ['a_long_source_file', checkFileSizes, core(lines(401)), '401 lines, at most 400'],
    ['a_long_test', checkFileSizes, { 'packages/core/src/a.test.ts': lines(601) }, 'at most 600'],
    ['a_long_script', checkFileSizes, { 'scripts/a.mjs': lines(101) }, 'at most 100'],
    ['a_skipped_test', checkLeftovers, core(`test.${'skip'}('x');\n`), 'skipped'],
    ['a_silenced_type', checkLeftovers, core(`// @ts-${'ignore'}\n`), 'silenced'],
    ['a_cast_to_any', checkLeftovers, core(`export const x = y as ${'any'};\n`), 'no any'],
    ['unfinished_work', checkLeftovers, core(`// ${'TO'}DO: later\n`), 'finish it'],
    [
      'a_host_in_the_lock_file',
      checkLockfileHosts,
      { 'pnpm-lock.yaml': 'resolution: {tarball: https://packages.example/x.tgz}\n' },
      'names a host',
    ],
  ])('%s_is_found', (_, rule, files, expected) => {
    expect(rule(tree(files)).join('\n')).toContain(expected);
  });

  test.each<[string, string, string[], string, string]>([
    ['a_badly_formatted_file', 'biome', ['check', '.'], 'export const x = "1"\n', 'format'],
    ['a_lint_error', 'biome', ['check', '.'], "console.log('x');\n", 'noConsole'],
    ['a_type_error', 'tsc', ['-p', '.'], "export const x: number = 'one';\n", 'TS2322'],
    ['a_dead_export', 'knip', ['--no-progress'], 'export const nobody = 1;\n', 'planted.ts'],
  ])('%s_is_found_by_its_tool', async (_, tool, args, text, expected) => {
    const root = tree({
      'packages/core/src/planted.ts': text,
      'package.json': '{"workspaces":["packages/*"]}',
    });
    for (const name of ['tsconfig.json', 'knip.json', 'node_modules']) {
      symlinkSync(join(import.meta.dirname, '../..', name), join(root, name));
    }
    writeFileSync(join(root, 'biome.json'), BIOME_WITHOUT_GIT);
    expect((await runTool(root, tool, args)).join('\n')).toContain(expected);
  });
});

const BIOME_WITHOUT_GIT = JSON.stringify({
  root: true,
  formatter: { indentStyle: 'space' },
  javascript: { formatter: { quoteStyle: 'single' } },
  linter: { rules: { suspicious: { noConsole: 'error' } } },
  files: { includes: ['packages/core/src/**'] },
});
