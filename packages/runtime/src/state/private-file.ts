import { readFileSync, statSync } from 'node:fs';
import { PagefleetError } from '@pagefleet/contract';

/**
 * Reads a file that only its owner may read. One that others may read is refused, not repaired: whoever could read it
 * may have done so, and only a person can decide to make a new secret.
 */
export function readPrivateFile(path: string): string {
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) !== 0) {
    throw new PagefleetError(
      'config_invalid',
      `${path} may be read by others (mode ${mode.toString(8)}); expected 600. Run: chmod 600 ${path}`,
    );
  }
  return readFileSync(path, 'utf8');
}
