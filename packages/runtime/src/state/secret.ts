import { createHash, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, unlinkSync, writeSync } from 'node:fs';
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

const KEY = /^[0-9a-f]{64}$/;

interface SecretOptions {
  /** the operator's own key; left out or empty = none */
  readonly keyFile?: string;
  /** The operator's key is used but could not be kept beside the others: once it is replaced, its pods are strangers. */
  readonly onUnstored?: (cause: unknown) => void;
}

/**
 * The secret of this state directory, made at the first call; no key in it is ever overwritten, since a pod launched with
 * an old one would answer 401 for ever while it bills. A configured key wins over those that are kept, and needs no folder
 * that can be written. It alone says who the cluster is where nothing is kept, so that a restart finds the same pods.
 */
export function loadOrCreateSecret(file: string, options: SecretOptions = {}): ClusterSecret {
  const { keyFile = '', onUnstored = () => undefined } = options;
  const stored = readSecret(file);
  if (keyFile === '') return stored ?? createSecret(file, newSecret());
  const key = readConfiguredKey(keyFile);
  const wanted = withKey(stored, key);
  try {
    const kept = stored ?? createSecret(file, wanted);
    if (kept.current === wanted.current) return kept;
    const merged = withKey(kept, key);
    writeSecret(file, merged, renameSync);
    return merged;
  } catch (cause) {
    onUnstored(cause);
    return wanted;
  }
}

function readConfiguredKey(keyFile: string): string {
  let text: string;
  try {
    text = readPrivateFile(keyFile);
  } catch (cause) {
    if (cause instanceof PagefleetError) throw cause;
    throw new PagefleetError(
      'config_invalid',
      `The key file ${keyFile} (secret_key_file) cannot be read: ${(cause as Error).message}`,
      { cause },
    );
  }
  const key = text.trim().toLowerCase();
  if (KEY.test(key)) return key;
  throw new PagefleetError(
    'config_invalid',
    `${keyFile} (secret_key_file) holds no key; expected 64 hex digits. One is made by: openssl rand -hex 32 > ${keyFile}`,
  );
}

/** Everything is made from the key itself, so that whoever reads it again gets the same without any memory. */
function withKey(stored: ClusterSecret | null, key: string): ClusterSecret {
  const digest = (purpose: string) =>
    createHash('sha256').update(`pagefleet ${purpose} ${key}`).digest('hex');
  const keyId = digest('key id').slice(0, 8);
  return deepFreeze({
    v: 1,
    clusterId: stored?.clusterId ?? digest('cluster').slice(0, 16),
    current: keyId,
    keys: { ...stored?.keys, [keyId]: key },
  });
}

function newSecret(): ClusterSecret {
  const keyId = randomBytes(4).toString('hex');
  const keys = { [keyId]: randomBytes(32).toString('hex') };
  return deepFreeze({ v: 1, clusterId: randomBytes(8).toString('hex'), current: keyId, keys });
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
  const wellFormed = Object.values(value.keys).every((key) => KEY.test(key));
  return wellFormed ? (value as ClusterSecret) : null;
}

/** Unlike a rename, a link fails when another process was faster: then its secret is the one. */
function createSecret(file: string, secret: ClusterSecret): ClusterSecret {
  try {
    makeFolder(dirname(file), 0o700);
    writeSecret(file, secret, (from, to) => {
      linkSync(from, to);
      unlinkSync(from);
    });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') {
      const theirs = readSecret(file);
      if (theirs) return theirs;
    }
    throw new PagefleetError(
      'config_invalid',
      `The cluster secret ${file} does not exist and cannot be made: ${(cause as Error).message}. Make the folder writable, or name a key of your own with secret_key_file.`,
      { cause },
    );
  }
  return secret;
}

/** Whole or not at all. `publish` gives the finished file its name. */
function writeSecret(file: string, secret: ClusterSecret, publish: (from: string, to: string) => void): void {
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    writePrivate(temporary, `${JSON.stringify(secret)}\n`);
    publish(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
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
