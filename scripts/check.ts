/**
 * `pnpm check`: everything that can be known without starting the cluster, in seconds. `--no-unit` leaves the unit tests
 * to whoever runs them anyway. The last line counts the steps, as `npm test` adds it up.
 */
import { join } from 'node:path';
import { STEPS, type Step, UNIT_STEP } from './check/steps.ts';

const root = join(import.meta.dirname, '..');
const steps = process.argv.includes('--no-unit') ? STEPS : [...STEPS, UNIT_STEP];

async function runStep(step: Step): Promise<boolean> {
  const startedMs = performance.now();
  const problems = await step.run(root);
  const took = `${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
  console.log(`${problems.length === 0 ? '✓' : '✗'} ${step.name.padEnd(28)} ${took.padStart(7)}`);
  for (const problem of problems) console.log(problem.replace(/^/gm, '    '));
  return problems.length === 0;
}

const results = await Promise.all(steps.map(runStep));
const failed = results.filter((passed) => !passed).length;
console.log(`${results.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
