/**
 * `npm test`: every kind of test in order, each against its time budget; `npm test -- unit` runs one kind, further words are
 * vitest's file filters. The last line is `N passed, N failed`, over all kinds.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureModules } from './install/modules.mjs';
import { TEST_PACKAGES } from './install/packages.mjs';
import { ensureSystemPackages } from './install/system.mjs';
import { nodeBinary, root } from './node-binary.mjs';

/**
 * Minutes per kind on an idle machine of two cores: a slow suite is one that nobody runs. Over its budget a kind is named;
 * over one and a half times its budget it fails, since a machine that does other work at the same time is not the suite's fault.
 */
const BUDGET_MINUTES = { check: 1, unit: 2, integration: 5, chaos: 5, sim: 3, e2e: 5 };
const FAILS_ABOVE = 1.5;

ensureSystemPackages(TEST_PACKAGES);
ensureModules();

const words = process.argv.slice(2);
const named = Object.keys(BUDGET_MINUTES).filter((kind) => words.includes(kind));
const kinds = named.length > 0 ? named : Object.keys(BUDGET_MINUTES);
const filters = words.filter((word) => !named.includes(word));
const scratch = mkdtempSync(join(tmpdir(), 'pagefleet-test-'));
const lines = [];
const skipped = [];
const failures = [];
const total = { passed: 0, failed: 0 };

for (const kind of kinds) {
  console.log(`\n── ${kind} ──`);
  const startedMs = performance.now();
  const result = kind === 'check' ? await runCheck() : await runVitest(kind);
  const seconds = (performance.now() - startedMs) / 1_000;
  const budget = BUDGET_MINUTES[kind] * 60;
  if (seconds > FAILS_ABOVE * budget) result.failed += 1;
  total.passed += result.passed;
  total.failed += result.failed;
  skipped.push(...(result.skipped ?? []));
  failures.push(...(result.failures ?? []));
  const verdict = seconds > budget ? 'OVER ITS BUDGET of' : 'of';
  lines.push(
    `${kind.padEnd(12)} ${String(result.passed).padStart(5)} passed ${String(result.failed).padStart(3)} failed   ` +
      `${seconds.toFixed(1).padStart(6)} s ${verdict} ${budget} s`,
  );
}
rmSync(scratch, { recursive: true, force: true });

for (const { name, message } of failures) console.log(`\nFAILED ${name}\n${message}`);
console.log(`\n${lines.join('\n')}`);
for (const { name, reason } of skipped) console.log(`skipped: ${name}: ${reason}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;

/** The steps of `pnpm check` but its unit tests, which are a kind of their own. */
async function runCheck() {
  const { code, output } = await runNode([join('scripts', 'check.ts'), '--no-unit']);
  const counted = /(\d+) passed, (\d+) failed\s*$/.exec(output);
  if (!counted) return { passed: 0, failed: 1 };
  return { passed: Number(counted[1]), failed: Math.max(Number(counted[2]), code === 0 ? 0 : 1) };
}

async function runVitest(kind) {
  const summary = join(scratch, `${kind}.json`);
  const { code } = await runNode(
    ['node_modules/vitest/vitest.mjs', 'run', '--project', kind, '--passWithNoTests']
      .concat(['--reporter', 'default', '--reporter', './scripts/test/summary-reporter.ts'])
      .concat(filters),
    { TEST_SUMMARY_FILE: summary },
  );
  try {
    const result = JSON.parse(readFileSync(summary, 'utf8'));
    return { ...result, failed: Math.max(result.failed, code === 0 ? 0 : 1) };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

async function runNode(args, env = {}) {
  const child = spawn(nodeBinary(), args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    process.stdout.write(chunk);
    output = (output + chunk).slice(-4_096);
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, output };
}
