import { accessSync, constants, statSync } from 'node:fs';
import { PagefleetError } from '@pagefleet/contract';

/** Bytes of a file that may be read; throws for anything else, with its path. */
export function fileSize(path: string): number {
  try {
    const stat = statSync(path);
    accessSync(path, constants.R_OK);
    if (stat.isFile()) return stat.size;
  } catch (cause) {
    throw new PagefleetError('not_found', `${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
  throw new PagefleetError('bad_request', `${path} is no file.`);
}
