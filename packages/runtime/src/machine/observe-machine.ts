import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';

/** What the machine, its kernel and our cgroup allow. */
export interface Machine {
  readonly cores: number;
  /** open files of a process: the limit in force, and the one a process may raise it to */
  readonly softDescriptors: number;
  readonly hardDescriptors: number;
  /** kernel's bound on a listen backlog */
  readonly somaxconn: number;
  /** threads and processes of our cgroup */
  readonly tasks: number;
  readonly memoryBytes: number;
}

/** Where the kernel does not say, the least that every system in use gives. */
const FALLBACK = { descriptors: 1_024, somaxconn: 128, tasks: 32_768 } as const;
const UNLIMITED_DESCRIPTORS = 1_048_576;

export function observeMachine(): Machine {
  // `Max open files   1024   524288   files`: soft, then hard.
  const [, soft, hard] = /^Max open files\s+(\S+)\s+(\S+)/m.exec(readOrEmpty('/proc/self/limits')) ?? [];
  return {
    cores: availableParallelism(),
    softDescriptors: descriptorsOf(soft),
    hardDescriptors: descriptorsOf(hard),
    somaxconn: Number(readOrEmpty('/proc/sys/net/core/somaxconn')) || FALLBACK.somaxconn,
    tasks: Number(readOrEmpty('/sys/fs/cgroup/pids.max')) || FALLBACK.tasks,
    memoryBytes: Number(readOrEmpty('/sys/fs/cgroup/memory.max')) || totalmem(),
  };
}

function descriptorsOf(text: string | undefined): number {
  return text === 'unlimited' ? UNLIMITED_DESCRIPTORS : Number(text) || FALLBACK.descriptors;
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
