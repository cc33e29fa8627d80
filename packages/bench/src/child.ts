import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface Child {
  readonly process: ChildProcess;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a Node program of this workspace and returns once it runs. */
export function startProgram(path: string, args: readonly string[], env: Record<string, string> = {}): Child {
  return watch(
    spawn(process.execPath, [path, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH ?? '', ...env },
    }),
  );
}

export function watch(child: ChildProcess): Child {
  if (child.pid === undefined) throw new Error(`could not start ${child.spawnfile}`);
  return {
    process: child,
    pid: child.pid,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** The first line a program prints, as JSON: how it says on which ports it listens. */
export async function firstLine<T>(child: Child): Promise<T> {
  const output = child.process.stdout;
  if (!output) throw new Error('the program has no output to read');
  for await (const line of createInterface({ input: output })) return JSON.parse(line) as T;
  throw new Error('the program ended before it said where it listens');
}
