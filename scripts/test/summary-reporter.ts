import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule, TestResult } from 'vitest/node';
import { corpusMissing } from '../../test/corpus.ts';

interface Summary {
  passed: number;
  failed: number;
  readonly skipped: { name: string; reason: string }[];
}

/** Writes the counts of a run to the file named by TEST_SUMMARY_FILE, for `scripts/test.mjs` to add up. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const summary: Summary = { passed: 0, failed: errors.length, skipped: [] };
    for (const module of modules) {
      summary.failed += module.errors().length;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === 'passed') summary.passed += 1;
        else if (result.state === 'failed') summary.failed += 1;
        else summary.skipped.push({ name: test.fullName, reason: reasonOf(result) });
      }
    }
    const file = process.env.TEST_SUMMARY_FILE;
    if (file) writeFileSync(file, JSON.stringify(summary));
  }
}

function reasonOf(result: TestResult): string {
  const note = result.state === 'skipped' ? result.note : undefined;
  return note ?? corpusMissing ?? 'no reason given';
}
