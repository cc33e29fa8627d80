import { defineConfig } from 'vitest/config';

/** One project per kind of test; `test/README.md` says where a test goes and what a kind may use. */
const kind = (name: string, include: string[], seconds: number, oneAtATime = false) => ({
  test: {
    name,
    include,
    testTimeout: seconds * 1_000,
    hookTimeout: seconds * 1_000,
    fileParallelism: !oneAtATime,
  },
});

export default defineConfig({
  test: {
    // Most tests wait for processes of theirs rather than for a core.
    maxWorkers: 3,
    projects: [
      kind('unit', ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts'], 10),
      kind('integration', ['test/integration/**/*.test.ts', 'test/conformance/**/*.test.ts'], 60),
      kind('chaos', ['test/chaos/**/*.test.ts'], 180, true),
      kind('sim', ['test/sim/**/*.test.ts'], 120),
      kind('e2e', ['test/e2e/**/*.test.ts'], 420, true),
    ],
  },
});
