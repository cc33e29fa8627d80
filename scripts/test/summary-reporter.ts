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
  /** files whose process the JavaScript engine itself ended, and why; nothing of them is counted here */
  readonly crashed: { file: string; why: string }[];
}

/** How V8, whose failed checks trap, or the kernel end a process for a fault of the engine; nothing of ours ends one so. */
const ENGINE_CRASH = /Worker exited unexpectedly with signal (SIGTRAP|SIGILL|SIGSEGV|SIGBUS)\b/;

/** Writes counts and failures of a run to the file named by TEST_SUMMARY_FILE, for `scripts/test.mjs` to add up. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const summary: Summary = { passed: 0, failed: 0, failures: [], skipped: [], crashed: [] };
    const fail = (name: string, error: SerializedError | undefined): void => {
      summary.failed += 1;
      summary.failures.push({ name, message: firstLines(reasonsOf(error)) });
    };
    const crashed = new Set<string>();
    for (const error of errors) {
      const why = reasonsOf(error);
      const files = ENGINE_CRASH.test(why)
        ? modules.filter((module) => why.includes(module.relativeModuleId))
        : [];
      if (files.length === 0) fail('outside of any test', error);
      for (const { relativeModuleId } of files) {
        crashed.add(relativeModuleId);
        summary.crashed.push({ file: relativeModuleId, why: firstLines(why) });
      }
    }
    for (const module of modules) {
      if (crashed.has(module.relativeModuleId)) continue;
      for (const error of module.errors()) fail(module.relativeModuleId, error);
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === 'passed') summary.passed += 1;
        else if (result.state === 'failed')
          fail(`${module.relativeModuleId}: ${test.name}`, result.errors[0]);
        else if (result.state === 'pending')
          fail(`${module.relativeModuleId}: ${test.name}`, { message: 'it never ran' });
        else summary.skipped.push({ name: test.fullName, reason: reasonOf(result) });
      }
    }
    const file = process.env.TEST_SUMMARY_FILE;
    if (file) writeFileSync(file, JSON.stringify(summary));
  }
}

/** The message and those of its causes: what ended a test process is told only by the cause. */
function reasonsOf(error: SerializedError | undefined): string {
  const messages: string[] = [];
  for (let at = error; at && messages.length < 5; at = at.cause as SerializedError | undefined)
    messages.push(at.message);
  return messages.join('\n') || 'no message';
}

function firstLines(message: string): string {
  return stripVTControlCharacters(message).split('\n').slice(0, 6).join('\n').slice(0, 1_000);
}

function reasonOf(result: TestResult): string {
  const note = result.state === 'skipped' ? result.note : undefined;
  return note ?? corpusMissing ?? 'no reason given';
}
