import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

export interface SourceFile {
  /** relative to the root, with forward slashes */
  readonly path: string;
  readonly text: string;
}

const SKIPPED = new Set(['node_modules', '.git', '.pagefleet']);

/** Every file of the tree whose name ends in one of the extensions, in a stable order. */
export function observeSourceFiles(
  root: string,
  extensions: readonly string[] = ['.ts', '.mjs'],
): SourceFile[] {
  const found: SourceFile[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) visit(path);
      else if (entry.isFile() && extensions.some((extension) => entry.name.endsWith(extension))) {
        found.push({ path: relative(root, path).split(sep).join('/'), text: readFileSync(path, 'utf8') });
      }
    }
  };
  visit(root);
  return found.sort((a, b) => a.path.localeCompare(b.path));
}

/** Tests, and the kits (`…-kit.ts`) that several of them share. */
export function isTestFile(path: string): boolean {
  return path.endsWith('.test.ts') || path.endsWith('-kit.ts') || path.startsWith('test/');
}
