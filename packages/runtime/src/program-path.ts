import { accessSync, closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { PagefleetError } from '@pagefleet/contract';

export function repoRoot(): string {
  return join(import.meta.dirname, '../../..');
}

/** The entry file of a package's program: `programPath('worker')` → `<repo>/packages/worker/src/main.ts`. */
export function programPath(packageName: string): string {
  return join(repoRoot(), 'packages', packageName, 'src/main.ts');
}

/** `\x7fELF`, the four Mach-O magics and fat binaries: what an executable starts with that is no script. */
const BINARY_MAGICS = new Set(['7f454c46', 'cffaedfe', 'feedfacf', 'cafebabe', 'cefaedfe']);

/**
 * The Node binary this process runs in. Everything supervised or signalled is started with it: a shell wrapper named
 * `node` would swallow the signals, so a file that is a script is refused.
 */
export function realNodeBinary(): string {
  const path = process.execPath;
  try {
    accessSync(path, constants.X_OK);
  } catch (cause) {
    throw new PagefleetError('unsupported', `The Node binary ${path} cannot be executed.`, { cause });
  }
  if (!isBinary(path)) {
    throw new PagefleetError(
      'unsupported',
      `${path} is a script, not the Node binary: signals would not reach Node.`,
    );
  }
  return path;
}

export function isBinary(path: string): boolean {
  const head = Buffer.alloc(4);
  const fd = openSync(path, 'r');
  try {
    readSync(fd, head, 0, 4, 0);
  } finally {
    closeSync(fd);
  }
  return BINARY_MAGICS.has(head.toString('hex'));
}
