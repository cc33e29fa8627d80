import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { repoRoot } from '../program-path.ts';
import { loadConfig } from './load-config.ts';

/** The key comes by `RUNPOD_API_KEY` or a file. */
const TAKEN_FOR_GRANTED = { runpod: { api_key_file: 'runpod.key' } };

const examples = ['README.md', ...readdirSync(join(repoRoot(), 'docs')).map((name) => join('docs', name))]
  .filter((file) => file.endsWith('.md'))
  .flatMap((file) => {
    const text = readFileSync(join(repoRoot(), file), 'utf8');
    return [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml = ''], n) => [`${file} ${n + 1}`, yaml]);
  });

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'pagefleet-examples-'));
  writeFileSync(join(cwd, 'runpod.key'), 'a key', { mode: 0o600 });
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

test.each(examples)('the_configuration_in_%s_is_one', (_place, yaml) => {
  writeFileSync(join(cwd, 'pagefleet.yaml'), stringify({ ...TAKEN_FOR_GRANTED, ...parse(yaml) }));
  expect(loadConfig({ env: {}, cwd }).config.pools.length).toBeGreaterThan(0);
});

test('there_are_examples', () => {
  expect(examples.length).toBeGreaterThan(4);
});
