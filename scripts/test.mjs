/**
 * `npm test`: every kind of test in order, each against its time budget; `npm test -- unit` runs one kind, further words are
 * vitest's file filters. The last line is `N passed, N failed`, over all kinds.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureModules } from './install/modules.mjs';
import { TEST_PACKAGES } from './install/packages.mjs';
import { ensureSystemPackages } from './install/system.mjs';
import { runNode, runVitest } from './test/run-vitest.mjs';

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
const crashed = [];
const total = { passed: 0, failed: 0 };

for (const kind of kinds) {
  console.log(`\n── ${kind} ──`);
  const startedMs = performance.now();
  const result = kind === 'check' ? await runCheck() : await runVitest(kind, filters, scratch);
  const seconds = (performance.now() - startedMs) / 1_000;
  const budget = BUDGET_MINUTES[kind] * 60;
  if (seconds > FAILS_ABOVE * budget) result.failed += 1;
  total.passed += result.passed;
  total.failed += result.failed;
  skipped.push(...(result.skipped ?? []));
  failures.push(...(result.failures ?? []));
  crashed.push(...(result.crashed ?? []));
  const verdict = seconds > budget ? 'OVER ITS BUDGET of' : 'of';
  lines.push(
    `${kind.padEnd(12)} ${String(result.passed).padStart(5)} passed ${String(result.failed).padStart(3)} failed   ` +
      `${seconds.toFixed(1).padStart(6)} s ${verdict} ${budget} s`,
  );
}
rmSync(scratch, { recursive: true, force: true });

for (const { name, message } of failures) console.log(`\nFAILED ${name}\n${message}`);
console.log(`\n${lines.join('\n')}`);
for (const { file, why } of crashed) console.log(`\nran twice, since V8 ended its process: ${file}\n${why}`);
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
