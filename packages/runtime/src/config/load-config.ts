import { existsSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type Config, PagefleetError, type WrittenConfig } from '@pagefleet/contract';
import { deepFreeze } from '../deep-freeze.ts';
import { checkConfig } from './check-config.ts';
import { type ConfigIssue, configInvalid } from './config-issue.ts';
import { withProviderDefaults } from './provider-defaults.ts';
import { type EnvironmentValue, readEnvironment } from './read-environment.ts';
import { readValue } from './read-value.ts';
import { readYaml, type YamlText } from './read-yaml.ts';
import { resolveConfig } from './resolve-config.ts';
import { joinPath, settingsSchema } from './setting-schema.ts';

export interface LoadOptions {
  /** a file that must exist; if left out, `pagefleet.yaml` in `cwd` is read when it is there */
  readonly file?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

export interface ConfigOrigin {
  readonly from: 'default' | 'file' | 'environment';
  /** `pagefleet.yaml line 3` or the variable's name */
  readonly name?: string;
}

export interface LoadedConfig {
  readonly config: Config;
  /** by written path, for each single setting: `limits.max_in_flight`, `pools[0].width` */
  readonly origins: ReadonlyMap<string, ConfigOrigin>;
  /** as the user would write it, every value present */
  readonly written: WrittenConfig;
  /** absolute; null when there is none */
  readonly file: string | null;
}

type Tree = Record<string, unknown>;

/**
 * Default → file → environment → convert → check → freeze. Throws `config_invalid` with every problem found in
 * `details.issues`: `{path, got, expected, from?}`.
 */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const file = findFile(options);
  const yaml = file === null ? null : readYaml(readText(file), basename(file));
  const environment = readEnvironment(options.env);
  const issues: ConfigIssue[] = [...(yaml?.issues ?? []), ...environment.issues];
  const tree = withProviderDefaults(overlay(yaml?.value ?? {}, environment.values));

  const originOf = originFinder(yaml, file, environment.values);
  // A file that is no mapping is at fault as a whole.
  const sourceOf = (path: string) =>
    path === 'configuration' && file !== null ? basename(file) : originOf(path).name;
  const read: ConfigIssue[] = [];
  const written = readValue(settingsSchema, tree, '', { issues: read, sourceOf }) as WrittenConfig;
  const config = resolveConfig(written, { file, cwd: options.cwd });
  issues.push(...read);
  // A file that is no YAML says nothing, so nothing can be said to contradict it.
  if (!yaml?.issues.length) issues.push(...contradictionsOf(config, read, sourceOf));
  if (issues.length > 0) throw configInvalid(issues);

  const origins = new Map(leafPaths(written, '').map((path) => [path, originOf(path)]));
  return { config: deepFreeze(config), origins, written: deepFreeze(written), file };
}

function findFile({ file, cwd }: LoadOptions): string | null {
  if (file !== undefined) return resolve(cwd, file);
  const usual = join(cwd, 'pagefleet.yaml');
  return existsSync(usual) ? usual : null;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new PagefleetError(
      'config_invalid',
      `The configuration ${file} cannot be read: ${(cause as Error).message}`,
      {
        cause,
        details: { issues: [{ path: file, got: 'no readable file', expected: 'a YAML file' }] },
      },
    );
  }
}

/** Lays the variables over the file. A variable of a section replaces the members it names and leaves the others. */
function overlay(base: unknown, values: readonly EnvironmentValue[]): unknown {
  if (values.length === 0) return base;
  if (!isTree(base)) return base;
  const tree: Tree = { ...base };
  for (const { path, value } of values) {
    const parts = path.split('.');
    const last = parts.pop() ?? path;
    let at = tree;
    for (const part of parts) {
      const next = at[part];
      const copy: Tree = isTree(next) ? { ...next } : {};
      at[part] = copy;
      at = copy;
    }
    const old = at[last];
    at[last] = isTree(old) && isTree(value) ? { ...old, ...value } : value;
  }
  return tree;
}

/** Where a written path got its value: the nearest of variable, file and default. */
function originFinder(yaml: YamlText | null, file: string | null, values: readonly EnvironmentValue[]) {
  return (path: string): ConfigOrigin => {
    const variable = values.findLast(({ path: set, value }) => isWrittenIn(value, restOf(path, set)));
    if (variable) return { from: 'environment', name: variable.name };
    if (file !== null && yaml !== null && isWrittenIn(yaml.value, path)) {
      const line = yaml.lineOf(path);
      return { from: 'file', name: line === null ? basename(file) : `${basename(file)} line ${line}` };
    }
    return { from: 'default' };
  };
}

/** `limits.max_body` under `limits` → `max_body`; null when the path is not at or below it */
function restOf(path: string, set: string): string | null {
  if (path === set) return '';
  if (!path.startsWith(set)) return null;
  const rest = path.slice(set.length);
  return rest.startsWith('.') ? rest.slice(1) : rest.startsWith('[') ? rest : null;
}

function isWrittenIn(tree: unknown, path: string | null): boolean {
  if (path === null) return false;
  let at = tree;
  for (const part of path.split(/[.[\]]+/).filter((name) => name !== '')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return false;
    at = (at as Tree)[part];
  }
  return true;
}

/** Paths of single settings; an empty list is one. */
function leafPaths(value: unknown, path: string): string[] {
  if (Array.isArray(value) && value.length > 0) {
    return value.flatMap((item, index) => leafPaths(item, joinPath(path, index)));
  }
  if (!isTree(value)) return [path];
  return Object.entries(value).flatMap(([name, member]) => leafPaths(member, joinPath(path, name)));
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Settings that are wrong in themselves contradict nothing: what stands in their place is only a default. */
function contradictionsOf(
  config: Config,
  read: readonly ConfigIssue[],
  sourceOf: (path: string) => string | undefined,
): ConfigIssue[] {
  const isWrong = (path: string) =>
    read.some((issue) => path === issue.path || restOf(path, issue.path) !== null);
  return checkConfig(config)
    .filter(({ path, involves }) => ![path, ...involves].some(isWrong))
    .filter(({ path, harmlessAsDefault }) => !harmlessAsDefault || sourceOf(path) !== undefined)
    .map(({ path, got, expected }) => {
      const from = sourceOf(path);
      return from === undefined ? { path, got, expected } : { path, got, expected, from };
    });
}
