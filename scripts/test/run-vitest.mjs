import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { nodeBinary, root } from '../node-binary.mjs';

/**
 * V8 13 has checks of its own that fail by chance when threads with WebAssembly come and go (nodejs/node 64500, 62393) and that
 * end the whole process with a trap. The files of such a process run once more, and the end says so; a second crash fails.
 *
 * @param filters vitest's file filters
 * @param scratch a folder for its summary
 */
export async function runVitest(kind, filters, scratch) {
  const first = await runOnce(kind, filters, scratch);
  if (!first.crashed?.length) return first;
  const files = first.crashed.map(({ file }) => file);
  const again = await runOnce(kind, files, scratch);
  return {
    crashed: first.crashed,
    passed: first.passed + again.passed,
    failed: first.failed + again.failed + (again.crashed?.length ?? 0),
    failures: [...first.failures, ...(again.failures ?? [])],
    skipped: [...first.skipped, ...(again.skipped ?? [])],
  };
}

async function runOnce(kind, files, scratch) {
  const summary = join(scratch, `${kind}.json`);
  // A run that ends without one must not be told by that of the run before.
  rmSync(summary, { force: true });
  const { code } = await runNode(
    ['node_modules/vitest/vitest.mjs', 'run', '--project', kind, '--passWithNoTests']
      .concat(['--reporter', 'default', '--reporter', './scripts/test/summary-reporter.ts'])
      .concat(files),
    { TEST_SUMMARY_FILE: summary },
  );
  try {
    const result = JSON.parse(readFileSync(summary, 'utf8'));
    const unexplained = code !== 0 && result.crashed.length === 0;
    return { ...result, failed: Math.max(result.failed, unexplained ? 1 : 0) };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

/** The exit code and the last 4 KB of what it printed; all of it is printed here as well. */
export async function runNode(args, env = {}) {
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
