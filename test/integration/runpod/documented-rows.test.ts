import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '@pagefleet/runtime';
import { describe, expect, test } from 'vitest';

const FOLDERS = {
  unit: 'packages/providers/src/runpod',
  int: 'test/integration/runpod',
  core: 'packages/core/src/pool',
  con: 'packages/controller/src',
} as const;

const page = readFileSync(join(repoRoot(), 'docs/runpod.md'), 'utf8');
const rows = [...page.matchAll(/\| `([\w./-]+\.test\.ts)` \| `([^`]+)`/g)].map(
  ([, file = '', name = '']) => ({ file, name }),
);

function sourceOf(file: string): string {
  const [folder = '', ...rest] = file.split('/');
  const path = folder in FOLDERS ? join(FOLDERS[folder as keyof typeof FOLDERS], ...rest) : file;
  return readFileSync(join(repoRoot(), path), 'utf8');
}

/** A case file's tests stand in the file that is run against every provider. */
const conformance = () =>
  globSync('test/conformance/*.ts', { cwd: repoRoot() }).map((file) =>
    readFileSync(join(repoRoot(), file), 'utf8'),
  );

describe('the table of docs/runpod.md', () => {
  test('has_a_row_for_all_but_those_that_it_excuses', () => {
    const numbers = [...page.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, list = '']) =>
      list.split(', ').map(Number),
    );
    const all = Array.from({ length: 34 }, (_, index) => index + 1);
    expect(all.filter((number) => !numbers.includes(number))).toEqual([31]);
    expect(rows.length).toBeGreaterThan(40);
  });

  test.each(rows)('$file: $name', ({ file, name }) => {
    expect([sourceOf(file), ...conformance()].some((source) => source.includes(name))).toBe(true);
  });
});
