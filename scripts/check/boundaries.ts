import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { type Import, parseImports } from './imports.ts';
import { MAY_IMPORT, TEST_TOOLS } from './package-table.ts';
import { isTestFile, observeSourceFiles, type SourceFile } from './source-files.ts';

interface Manifest {
  readonly name: string;
  readonly exports?: Record<string, unknown>;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
}

const SCOPE = '@pagefleet/';

/** Who may import whom: manifests against the table, then every import against the manifest. */
export function checkBoundaries(root: string): string[] {
  const packages = new Map<string, Manifest>();
  for (const folder of readdirSync(join(root, 'packages'))) {
    packages.set(folder, readManifest(join(root, 'packages', folder, 'package.json')));
  }
  const problems = [...packages].flatMap(([folder, manifest]) => checkManifest(folder, manifest));
  for (const file of observeSourceFiles(join(root, 'packages'))) {
    const folder = file.path.split('/')[0] ?? '';
    const manifest = packages.get(folder);
    if (manifest) problems.push(...checkFile(folder, manifest, packages, file));
  }
  return problems;
}

function checkManifest(folder: string, manifest: Manifest): string[] {
  const at = `packages/${folder}/package.json`;
  const allowed = MAY_IMPORT[folder];
  if (!allowed) return [`${at}: package "${folder}" is not in the table of scripts/check/package-table.ts`];
  return workspaceDependencies(manifest)
    .filter((name) => !allowed.includes(name))
    .map((name) => `${at}: ${folder} may not depend on ${name}; allowed: ${allowed.join(', ') || 'nothing'}`);
}

function checkFile(
  folder: string,
  manifest: Manifest,
  packages: ReadonlyMap<string, Manifest>,
  file: SourceFile,
): string[] {
  const declared = new Set([
    ...Object.keys(manifest.dependencies ?? {}),
    ...Object.keys(manifest.devDependencies ?? {}),
    ...(isTestFile(file.path) ? TEST_TOOLS : []),
  ]);
  return parseImports(file.text).flatMap((item) => {
    const reason = faultOf(item, folder, file.path, declared, packages);
    return reason ? [`packages/${file.path}:${item.line}: ${reason}`] : [];
  });
}

function faultOf(
  { specifier }: Import,
  folder: string,
  path: string,
  declared: ReadonlySet<string>,
  packages: ReadonlyMap<string, Manifest>,
): string | null {
  if (specifier.startsWith('.')) {
    const target = posix.join(dirname(path), specifier);
    return target.startsWith(`${folder}/`)
      ? null
      : `'${specifier}' leaves the package; import @pagefleet/<name>`;
  }
  if (specifier.startsWith('node:')) return null;
  if (builtinModules.includes(specifier)) return `write 'node:${specifier}'`;
  const parts = specifier.split('/');
  const name = specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? '');
  if (!declared.has(name)) return `'${name}' is not declared in packages/${folder}/package.json`;
  if (!name.startsWith(SCOPE)) return null;
  const subpath = `.${specifier.slice(name.length)}`;
  const exported = packages.get(name.slice(SCOPE.length))?.exports ?? {};
  return subpath in exported ? null : `'${specifier}' is no declared export of ${name}`;
}

function workspaceDependencies(manifest: Manifest): string[] {
  return Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
    .filter((name) => name.startsWith(SCOPE))
    .map((name) => name.slice(SCOPE.length));
}

function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(path, 'utf8')) as Manifest;
}
