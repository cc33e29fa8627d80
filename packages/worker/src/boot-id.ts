import { randomBytes } from 'node:crypto';

/** The name of one incarnation of a worker; lower-case hex, so that file names can carry it. */
export function newBootId(): string {
  return randomBytes(6).toString('hex');
}
