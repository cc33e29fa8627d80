import { type Config, isStock } from '@pagefleet/contract';
import { effectiveMaxQueued, shareOf } from '@pagefleet/core';
import { clampSize, observeMachine } from '@pagefleet/runtime';

/** What the machine allows this process. */
export interface Box {
  /** soft limit of open files: the one in force */
  readonly descriptors: number;
  readonly somaxconn: number;
  /** tasks (threads and processes) its cgroup may have */
  readonly tasks: number;
  readonly memoryBytes: number;
}

/** Every limit of one worker on the way of a page, from `max_in_flight` and the number of workers. */
export interface Sizes {
  readonly maxInFlight: number;
  readonly maxQueued: number;
  /** connections to all pods together */
  readonly outgoing: number;
  /** connections to one pod */
  readonly perPod: number;
  readonly controlPerPod: number;
  /** listen backlog */
  readonly backlog: number;
  readonly descriptors: number;
  readonly memoryBytes: number;
  readonly spoolBytes: number;
  readonly pdfThreads: number;
  readonly decodeThreads: number;
  /** that draw pages read on this worker, for each such pool; 0 = there is none */
  readonly drawThreads: number;
  /** pods of the widest pool that can be fed to their full width */
  readonly podsFed: number;
  /** what the machine did not allow, and what is not enough; empty = nothing binds */
  readonly binding: readonly string[];
}

const LEAST_OUTGOING = 256;
const MOST_OUTGOING = 32_768;
const MOST_PER_POD = 16_384;
const CONTROL_PER_POD = 16;
const DECODE_THREADS = 2;
/** Of one worker beside those that read documents: 12 counted in an idle one (/proc/PID/task), and 2 to spare. */
const OTHER_THREADS = 14;
/** Kept for control, logs, NATS, spool files and what Node itself needs: pages give way before them. */
const RESERVED_DESCRIPTORS = 256;
const RESERVED_MEMORY_BYTES = 256 * 1024 * 1024;
const LEAST_BACKLOG = 128;

export function sizeWorker(config: Config, box: Box): Sizes {
  const { limits } = config;
  const n = Math.max(1, config.workers);
  const binding: string[] = [];
  const queued = effectiveMaxQueued(limits.maxInFlight, limits.maxQueued);
  const wanted = { maxInFlight: shareOf(limits.maxInFlight, n), maxQueued: shareOf(queued, n) };

  const usable = Math.max(64, box.descriptors - RESERVED_DESCRIPTORS);
  const wantedOutgoing = Math.min(
    MOST_OUTGOING,
    Math.max(LEAST_OUTGOING, Math.ceil(wanted.maxInFlight * 1.25)),
  );
  const needed = wanted.maxInFlight + wanted.maxQueued + wantedOutgoing;
  const scale = Math.min(1, usable / needed);
  if (scale < 1)
    binding.push(
      `pages by the limit on open files: ${needed} needed, ${usable} of ${box.descriptors} usable`,
    );
  const maxInFlight = Math.max(1, Math.floor(wanted.maxInFlight * scale));
  const outgoing = Math.max(1, Math.floor(wantedOutgoing * scale));

  const wantedBacklog = Math.max(LEAST_BACKLOG, wanted.maxInFlight + wanted.maxQueued);
  const backlog = clampSize(
    { name: 'backlog', wanted: wantedBacklog, most: box.somaxconn, by: 'net.core.somaxconn' },
    binding,
  );
  const mostMemory = Math.max(16_000_000, Math.floor((box.memoryBytes - RESERVED_MEMORY_BYTES) / n));
  const memoryBytes = clampSize(
    { name: 'memory', wanted: shareOf(limits.memoryBytes, n), most: mostMemory, by: 'the machine' },
    binding,
  );

  // Those that draw are as many again for each pool that is read here.
  const drawn = config.pools.filter(isStock).length;
  const tasksLeft = Math.floor(box.tasks / n) - DECODE_THREADS - OTHER_THREADS;
  const mostPdfThreads = Math.max(1, Math.floor(tasksLeft / (1 + drawn)));
  const pdfThreads = clampSize(
    { name: 'pdf_threads', wanted: limits.pdfThreads, most: mostPdfThreads, by: 'the tasks of the cgroup' },
    binding,
  );

  const width = Math.max(...config.pools.map((pool) => Math.min(pool.width, limits.maxInflightPerPod)));
  const podsFed = Math.floor((Math.min(maxInFlight, outgoing) * n) / width);
  const maxPods = Math.max(...config.pools.map((pool) => pool.maxPods));
  if (podsFed < maxPods)
    binding.push(`only ${podsFed} pods can be fed to their width, max_pods is ${maxPods}`);

  return {
    maxInFlight,
    maxQueued: Math.max(1, Math.floor(wanted.maxQueued * scale)),
    outgoing,
    perPod: Math.min(MOST_PER_POD, width),
    controlPerPod: CONTROL_PER_POD,
    backlog,
    descriptors: box.descriptors,
    memoryBytes,
    spoolBytes: shareOf(limits.spoolBytes, n),
    pdfThreads,
    decodeThreads: DECODE_THREADS,
    drawThreads: drawn === 0 ? 0 : pdfThreads,
    podsFed,
    binding,
  };
}

/** The limit on open files in force is the soft one. */
export function observeBox(): Box {
  const { softDescriptors, somaxconn, tasks, memoryBytes } = observeMachine();
  return { descriptors: softDescriptors, somaxconn, tasks, memoryBytes };
}
