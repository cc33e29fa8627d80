import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigSchema } from './schema.ts';

/**
 * A setting that nothing reads is a promise that nobody keeps. A reader is production code outside the schema and its loader
 * that names the setting in the code's form. Names are all that is looked at: one that another thing shares (`port`,
 * `name`, `width`) counts as read.
 */
const PACKAGES = join(import.meta.dirname, '..', '..', '..');
const SOURCES = globSync('*/src/**/*.ts', {
  cwd: PACKAGES,
  exclude: ['contract/**', 'runtime/src/config/**'],
})
  .filter((file) => !file.endsWith('.test.ts') && !file.includes('/test-kit/') && !/-kit\.ts$/.test(file))
  .map((file) => withoutComments(readFileSync(join(PACKAGES, file), 'utf8')));
const WORDS = new Set(SOURCES.flatMap((source) => source.match(/[A-Za-z_$][\w$]*/g) ?? []));

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly 'x-kind'?: 'duration' | 'bytes';
}

interface Setting {
  readonly path: string;
  readonly codeName: string;
}

const SETTINGS = leavesOf(ConfigSchema as Schema, '');

/** Settings are few and deep: the leaves, an item's fields included. */
function leavesOf(schema: Schema, path: string): Setting[] {
  const { properties } = schema.items?.properties === undefined ? schema : schema.items;
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([name, inner]) =>
      leavesOf(inner, path === '' ? name : `${path}.${name}`),
    );
  const camel = path
    .replace(/^.*\./, '')
    .replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
  const suffix = { duration: 'Ms', bytes: 'Bytes', none: '' }[schema['x-kind'] ?? 'none'];
  return [{ path, codeName: camel + suffix }];
}

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

describe('every setting has a reader', () => {
  test('the_walk_finds_the_schema_and_the_sources', () => {
    expect(SETTINGS.length).toBeGreaterThan(40);
    expect(SETTINGS).toContainEqual({ path: 'pools.boot_deadline', codeName: 'bootDeadlineMs' });
    expect(SETTINGS).toContainEqual({ path: 'limits.max_body', codeName: 'maxBodyBytes' });
    expect(SOURCES.length).toBeGreaterThan(100);
    expect(WORDS.has('aSettingThatNobodyReadsMs')).toBe(false);
  });

  test.each(SETTINGS)('$path is read as $codeName', ({ codeName }) => {
    expect(WORDS.has(codeName)).toBe(true);
  });
});
