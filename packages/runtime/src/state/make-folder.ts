import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it that are missing, all with this mode. Unlike Node's recursive `mkdir`, which tries for
 * ever (24.x), it fails where the folder above exists and still takes none, as in `/proc`.
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const parent = dirname(path);
    if (code === 'ENOENT' && parent !== path && !isFolder(parent)) {
      makeFolder(parent, mode);
      makeFolder(path, mode);
      return;
    }
    // Somebody else may have been faster.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
