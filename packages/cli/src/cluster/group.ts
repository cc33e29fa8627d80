import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PagefleetError } from '@pagefleet/contract';
import {
  type ClusterPaths,
  isSameProcess,
  observeProcess,
  type ProcessIdentity,
  repoRoot,
  writeFileAtomic,
} from '@pagefleet/runtime';
import { findProgram, programSearchPath } from './find-program.ts';
import { findSession } from './find-session.ts';
import { readStat } from './session.ts';

/** The supervisord that was started last on this state directory, running or not; found by its processes where the file is lost. */
export function readGroup(paths: ClusterPaths): ProcessIdentity | null {
  const written = readGroupFile(paths);
  if (written && (process.platform !== 'linux' || readStat(written.pid)?.startTicks === written.startTicks)) {
    return written;
  }
  const found = findSession(paths);
  return found === null || found.pid === written?.pid ? written : found;
}

/** null = missing or damaged */
export function readGroupFile(paths: ClusterPaths): ProcessIdentity | null {
  try {
    const value: unknown = JSON.parse(readFileSync(paths.groupFile, 'utf8'));
    const { pid, startTicks, bootId } = value as Partial<ProcessIdentity>;
    const isWhole = typeof pid === 'number' && typeof startTicks === 'number' && typeof bootId === 'string';
    return isWhole ? { pid, startTicks, bootId } : null;
  } catch {
    return null;
  }
}

export async function runningGroup(paths: ClusterPaths): Promise<ProcessIdentity | null> {
  const group = readGroup(paths);
  return group && (await isSameProcess(group)) ? group : null;
}

/**
 * Starts supervisord in a session of its own: a Ctrl-C in the terminal reaches only the command line, and everything that
 * descends from it can be found again by the session's number.
 */
export async function startGroup(paths: ClusterPaths): Promise<ProcessIdentity> {
  const log = openSync(join(paths.logsDir, 'supervisord.out'), 'w', 0o600);
  const child = spawn(findProgram('supervisord'), ['-n', '-c', paths.supervisorConfFile], {
    cwd: paths.stateDir,
    detached: true,
    env: supervisedEnvironment(paths),
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  failed.catch(() => undefined);
  const identity = child.pid === undefined ? await failed : await observeProcess(child.pid);
  if (!identity) {
    throw new PagefleetError('internal', `supervisord ended at once; see ${paths.logsDir}/supervisord.out`);
  }
  await writeFileAtomic(paths.groupFile, `${JSON.stringify(identity)}\n`, 0o600);
  return identity;
}

function supervisedEnvironment(paths: ClusterPaths): NodeJS.ProcessEnv {
  return {
    // Compiled modules are kept, so that a restarted program is back a third sooner; where it cannot write, Node goes without.
    NODE_COMPILE_CACHE: join(repoRoot(), 'node_modules', '.cache', 'node-compile'),
    ...process.env,
    PATH: programSearchPath(),
    PAGEFLEET_STATE: paths.stateDir,
  };
}
