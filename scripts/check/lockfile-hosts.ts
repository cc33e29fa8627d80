import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The lock file pins versions and hashes, never where they came from: every machine uses its own registry. */
export function checkLockfileHosts(root: string): string[] {
  const lines = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8').split('\n');
  return lines.flatMap((line, index) =>
    /https?:\/\/|\btarball:/.test(line) ? [`pnpm-lock.yaml:${index + 1}: names a host: ${line.trim()}`] : [],
  );
}
