import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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

const START_PATIENCE_MS = 10_000;
const POLL_MS = 50;

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
 * Starts supervisord, which makes a session of its own: a Ctrl-C in the terminal reaches only the command line, and
 * everything that descends from it can be found again by the session's number. It says what keeps it from starting, then
 * turns its output to /dev/null: a full disk that refused its last words would end it.
 */
export async function startGroup(paths: ClusterPaths): Promise<ProcessIdentity> {
  rmSync(paths.supervisorPidFile, { force: true });
  await runUntilDaemon(paths);
  const identity = await waitForSession(paths);
  await writeFileAtomic(paths.groupFile, `${JSON.stringify(identity)}\n`, 0o600);
  return identity;
}

/** Resolves when the started process has handed over to the one that stays. */
function runUntilDaemon(paths: ClusterPaths): Promise<void> {
  const child = spawn(findProgram('supervisord'), ['-c', paths.supervisorConfFile], {
    cwd: paths.stateDir,
    detached: true,
    env: supervisedEnvironment(paths),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    // The pipe closes when the daemon has turned away from it, also after the exit of the one that was started.
    child.once('close', (code, signal) => {
      if (code === 0) return resolve();
      const why = said.trim().split('\n').slice(-3).join(' | ') || `it left no word (${signal ?? code})`;
      reject(new PagefleetError('internal', `supervisord did not start: ${why}`));
    });
  });
}

async function waitForSession(paths: ClusterPaths): Promise<ProcessIdentity> {
  const deadline = performance.now() + START_PATIENCE_MS;
  while (performance.now() < deadline) {
    const found = findSession(paths) ?? (await observeProcess(readPid(paths)));
    // Just before it opens its own session it is still in that of the process that is gone.
    if (found && (await isSameProcess(found))) return found;
    await sleep(POLL_MS);
  }
  throw new PagefleetError('internal', `supervisord ended at once; see ${paths.logFile('supervisord')}`);
}

/** 0 = it has not written it */
function readPid(paths: ClusterPaths): number {
  try {
    return Number(readFileSync(paths.supervisorPidFile, 'utf8'));
  } catch {
    return 0;
  }
}

function supervisedEnvironment(paths: ClusterPaths): NodeJS.ProcessEnv {
  // Who needs the key reads it from its file.
  const { RUNPOD_API_KEY: _, ...inherited } = process.env;
  return {
    // Compiled modules are kept, so that a restarted program is back a third sooner; where it cannot write, Node goes without.
    NODE_COMPILE_CACHE: join(repoRoot(), 'node_modules', '.cache', 'node-compile'),
    ...inherited,
    PATH: programSearchPath(),
    PAGEFLEET_STATE: paths.stateDir,
  };
}
