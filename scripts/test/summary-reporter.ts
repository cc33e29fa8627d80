import { writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, SerializedError, TestModule, TestResult } from 'vitest/node';
import { corpusMissing } from '../../test/corpus.ts';

interface Summary {
  passed: number;
  failed: number;
  /** what failed and the first lines of why, so that the end of a long output still tells */
  readonly failures: { name: string; message: string }[];
  readonly skipped: { name: string; reason: string }[];
}

/** Writes counts and failures of a run to the file named by TEST_SUMMARY_FILE, for `scripts/test.mjs` to add up. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const summary: Summary = { passed: 0, failed: 0, failures: [], skipped: [] };
    const fail = (name: string, error: SerializedError | undefined): void => {
      summary.failed += 1;
      summary.failures.push({ name, message: firstLines(error?.message ?? 'no message') });
    };
    for (const error of errors) fail('outside of any test', error);
    for (const module of modules) {
      for (const error of module.errors()) fail(module.relativeModuleId, error);
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === 'passed') summary.passed += 1;
        else if (result.state === 'failed')
          fail(`${module.relativeModuleId}: ${test.name}`, result.errors[0]);
        else summary.skipped.push({ name: test.fullName, reason: reasonOf(result) });
      }
    }
    const file = process.env.TEST_SUMMARY_FILE;
    if (file) writeFileSync(file, JSON.stringify(summary));
  }
}

function firstLines(message: string): string {
  return stripVTControlCharacters(message).split('\n').slice(0, 6).join('\n').slice(0, 1_000);
}

function reasonOf(result: TestResult): string {
  const note = result.state === 'skipped' ? result.note : undefined;
  return note ?? corpusMissing ?? 'no reason given';
}
