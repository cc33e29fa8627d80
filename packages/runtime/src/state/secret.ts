import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { PagefleetError } from '@pagefleet/contract';
import { deepFreeze } from '../deep-freeze.ts';
import { makeFolder } from './make-folder.ts';
import { readPrivateFile } from './private-file.ts';

/** What tokens are derived from. Old keys are kept until no pod uses them. */
export interface ClusterSecret {
  readonly v: 1;
  readonly clusterId: string;
  /** id of the key that new pods get */
  readonly current: string;
  /** key id → 64 hex digits */
  readonly keys: Readonly<Record<string, string>>;
}

/**
 * The secret of this state directory, made at the first call and never overwritten: a pod launched with an old one would
 * answer 401 for ever while it bills.
 */
export function loadOrCreateSecret(file: string): ClusterSecret {
  return readSecret(file) ?? createSecret(file);
}

function readSecret(file: string): ClusterSecret | null {
  let text: string;
  try {
    text = readPrivateFile(file);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    if (error instanceof PagefleetError) throw error;
    throw new PagefleetError(
      'config_invalid',
      `The cluster secret ${file} cannot be read: ${(error as Error).message}`,
      { cause: error },
    );
  }
  const secret = parseSecret(text);
  if (secret === null) {
    throw new PagefleetError(
      'config_invalid',
      `${file} is not a cluster secret. It is never overwritten: pods that run still need it. Restore it, or move it away if no pod is left.`,
    );
  }
  return deepFreeze(secret);
}

function parseSecret(text: string): ClusterSecret | null {
  let value: Partial<ClusterSecret> | null;
  try {
    value = JSON.parse(text) as Partial<ClusterSecret> | null;
  } catch {
    return null;
  }
  if (value?.v !== 1 || !value.clusterId || !value.current || !value.keys?.[value.current]) return null;
  const wellFormed = Object.values(value.keys).every((key) => /^[0-9a-f]{64}$/.test(key));
  return wellFormed ? (value as ClusterSecret) : null;
}

function createSecret(file: string): ClusterSecret {
  const keyId = randomBytes(4).toString('hex');
  const secret: ClusterSecret = {
    v: 1,
    clusterId: randomBytes(8).toString('hex'),
    current: keyId,
    keys: { [keyId]: randomBytes(32).toString('hex') },
  };
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    makeFolder(dirname(file), 0o700);
    writePrivate(temporary, `${JSON.stringify(secret)}\n`);
    try {
      // Unlike a rename, a link fails when another process was faster: then its secret is the one.
      linkSync(temporary, file);
    } finally {
      unlinkSync(temporary);
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') {
      const theirs = readSecret(file);
      if (theirs) return theirs;
    }
    throw new PagefleetError(
      'config_invalid',
      `The cluster secret ${file} does not exist and cannot be made: ${(cause as Error).message}`,
      { cause },
    );
  }
  return deepFreeze(secret);
}

function writePrivate(path: string, text: string): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
