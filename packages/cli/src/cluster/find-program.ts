import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { PagefleetError } from '@pagefleet/contract';

/** Debian keeps daemons in folders that are not on every user's path. */
const DAEMON_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/** The path that supervised programs get: the caller's, and where daemons live. */
export function programSearchPath(env: NodeJS.ProcessEnv = process.env): string {
  return [...(env.PATH ?? '').split(delimiter).filter(Boolean), ...DAEMON_FOLDERS].join(delimiter);
}

export function findProgram(name: string, searchPath = programSearchPath()): string {
  for (const folder of searchPath.split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not in this one
    }
  }
  throw new PagefleetError(
    'unsupported',
    `The program ${name} is not installed. \`npm start\` in the repository installs what is missing.`,
  );
}
