import { type ChildProcess, fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { PagefleetError } from '@pagefleet/contract';
import type { SplitAnswer, SplitAsk, SplitTask } from './split-messages.ts';
import type { SplitterLine } from './split-runner.ts';

/** JavaScript's own memory; WebAssembly's is outside of it, so the whole is watched as well. */
const HEAP_MB = 512;
const RESIDENT_MAX_BYTES = 1_536 * 1024 * 1024;
const WATCH_INTERVAL_MS = 200;
const PAGE_BYTES = 4_096;

/** Starts a child process for one document, bounded in memory. */
export function openChildLine(task: SplitTask, residentMaxBytes = RESIDENT_MAX_BYTES): SplitterLine {
  const child = fork(fileURLToPath(new URL('./split-child.ts', import.meta.url)), {
    serialization: 'advanced',
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // It needs no secret of ours, only to find programs and a folder for temporary files.
    env: { PATH: process.env.PATH ?? '', ...(process.env.TMPDIR ? { TMPDIR: process.env.TMPDIR } : {}) },
  });
  const watch = setInterval(() => void killIfLarger(child, residentMaxBytes), WATCH_INTERVAL_MS);
  const ended = new Promise<void>((resolve, reject) => {
    // More than one may come, and one that nobody hears ends the worker.
    child.on('error', (cause) => reject(child.pid === undefined ? notStarted(cause) : cause));
    child.once('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`the child ended with ${signal ?? code}`));
    });
  }).finally(() => clearInterval(watch));
  // A child that is gone, or never was, does not hear it; its end is told by `ended`.
  const ask = (message: SplitTask | SplitAsk): void => {
    if (child.connected) child.send(message, () => undefined);
  };
  ask(task);
  return {
    ask,
    onAnswer: (take) => child.on('message', (answer) => take(answer as SplitAnswer)),
    ended,
    kill: () => child.kill('SIGKILL'),
  };
}

function notStarted(cause: Error): PagefleetError {
  const { code } = cause as NodeJS.ErrnoException;
  return new PagefleetError(
    'local_shortage',
    `no process could be started to open the document in (${code ?? cause.name})`,
    { cause },
  );
}

async function killIfLarger(child: ChildProcess, mostBytes: number): Promise<void> {
  if ((await residentBytes(child.pid)) > mostBytes) child.kill('SIGKILL');
}

/** 0 where the system does not say. */
async function residentBytes(pid: number | undefined): Promise<number> {
  const statm = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '');
  return Number(statm.split(' ')[1] ?? 0) * PAGE_BYTES;
}
