import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import LongestFirst from './scripts/test/longest-first.ts';

// Test processes and the programs they start keep what they compiled, as a cluster's programs do: a third of each start.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'node-compile');

/** One project per kind of test; `test/README.md` says where a test goes and what a kind may use. */
const kind = (
  name: string,
  include: string[],
  seconds: number,
  filesAtATime: number,
  groupOrder: number,
) => ({
  test: {
    name,
    include,
    testTimeout: seconds * 1_000,
    hookTimeout: seconds * 1_000,
    maxWorkers: filesAtATime,
    isolate: name !== 'unit',
    sequence: { groupOrder },
  },
});

// Unit files share a process: loading the modules again for each took longer than the tests. So none may lean on a fresh module, or leave one changed.
// Integration and chaos tests wait for processes of theirs more than for a core.
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // More of them in a file would start all their processes in the same second.
    maxConcurrency: 3,
    projects: [
      kind('unit', ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts'], 10, 2, 1),
      kind('integration', ['test/integration/**/*.test.ts', 'test/conformance/**/*.test.ts'], 60, 4, 2),
      kind('chaos', ['test/chaos/**/*.test.ts'], 180, 2, 3),
      kind('sim', ['test/sim/**/*.test.ts'], 120, 2, 4),
      kind('e2e', ['test/e2e/**/*.test.ts'], 420, 2, 5),
    ],
  },
});
