import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PagefleetError } from '@pagefleet/contract';
import { createOutputTail } from './output-tail.ts';
import { endGroup } from './process-group.ts';

export interface LaunchOptions {
  /** program and all its arguments; no secret is among them */
  readonly command: readonly string[];
  /** beside what is passed on of ours, `NAME=value` */
  readonly env: readonly string[];
  /** gets everything that the program prints, as it comes */
  readonly onOutput: (chunk: string) => void;
}

export interface ServerExit {
  readonly code: number | null;
  /** for people: `it ended with code 1`, `it was ended by SIGKILL` */
  readonly how: string;
}

/** A model server that runs, as a process group of its own. */
export interface ServerProcess {
  readonly pid: number;
  readonly exited: Promise<ServerExit>;
  /** its last lines, without secrets */
  tail(): string;
  /** Ends the whole group, SIGTERM first, and resolves when nobody is left of it. Throws when somebody stays. */
  stop(): Promise<void>;
}

/** vLLM frees its card within seconds; what takes longer hangs. */
const STOP_GRACE_MS = 8_000;

/**
 * The program under a guard: a shell that leads the group, leaves a child behind that waits on a pipe to the gateway, and
 * becomes the program. However the gateway ends, `kill -9` included, the pipe closes with it, and the guard kills the group
 * that it is a member of; so no model server outlives its gateway by more than a moment. The guard is no child of the
 * program, which knows nothing of it, and stays until the group is ended even if the program is gone.
 */
const GUARDED = `( ( trap '' HUP INT TERM; read -r _ <&3; kill -s KILL -- "-$$" ) >/dev/null 2>&1 & )
exec "$@" 3<&-`;

/** What the provider and we tell a gateway is not for its model server; nor may it ask for a key that we do not send. */
const NOT_PASSED_ON = /^(PAGEFLEET_|RUNPOD_)|^VLLM_API_KEY$/;

/** Starts the program. `config_invalid` when there is no such program. */
export async function launchServer({ command, env, onOutput }: LaunchOptions): Promise<ServerProcess> {
  const [program = '', ...args] = command;
  const environment = environmentOf(env);
  const tail = createOutputTail(environment);
  const child = spawn('/bin/sh', ['-c', GUARDED, 'pagefleet-engine-guard', program, ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: environment,
  });
  const exited = new Promise<ServerExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, how: describeExit(code, signal) }));
  });
  for (const output of [child.stdout, child.stderr]) {
    output?.setEncoding('utf8');
    output?.on('data', (chunk: string) => {
      tail.add(chunk);
      onOutput(chunk);
    });
  }
  // The guard's end of the pipe may be gone before ours.
  child.stdio[3]?.on('error', () => undefined);
  try {
    await once(child, 'spawn');
  } catch (cause) {
    throw new PagefleetError('engine_not_ready', `no process can be started for ${program}`, { cause });
  }
  const pid = child.pid ?? 0;
  return {
    pid,
    exited,
    tail: tail.text,
    async stop() {
      await endGroup(pid, STOP_GRACE_MS);
      await exited;
      for (const stream of child.stdio) stream?.destroy();
    },
  };
}

function environmentOf(more: readonly string[]): NodeJS.ProcessEnv {
  const ours = Object.entries(process.env).filter(([name]) => !NOT_PASSED_ON.test(name));
  const told = more.map((line) => {
    const at = line.indexOf('=');
    return [line.slice(0, at), line.slice(at + 1)] as const;
  });
  return Object.fromEntries([...ours, ...told]);
}

/** A shell ends with 127 when it finds no such program, and with 126 when it may not run it. */
function describeExit(code: number | null, signal: NodeJS.Signals | null): string {
  if (code === 127) return 'there is no such program';
  if (code === 126) return 'the program cannot be run';
  return signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`;
}
