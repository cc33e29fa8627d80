import type { Config } from '@pagefleet/contract';
import { clampSize } from '../machine/clamp-size.ts';

/** What the machine allows; observed by whoever renders. */
export interface NginxBox {
  readonly cores: number;
  /** hard limit of open files of a process */
  readonly descriptors: number;
  /** kernel's bound on a listen backlog */
  readonly somaxconn: number;
}

export interface NginxSizes {
  readonly workerProcesses: number;
  readonly workerConnections: number;
  readonly descriptors: number;
  readonly backlog: number;
  readonly pageDeadlineSeconds: number;
  /** longest silence of a worker: held, queued and read within these, with a margin for its own answer */
  readonly readTimeoutSeconds: number;
  /** what the machine did not allow, for the start-up line */
  readonly clamped: readonly string[];
}

/** More processes do not help a proxy that copies bytes, and each reserves its own connections. */
const MAX_WORKER_PROCESSES = 8;
const SPARE_DESCRIPTORS = 128;
const ANSWER_MARGIN_MS = 60_000;

/** Every limit of nginx from `max_in_flight` and the page deadline; no default of its own is in force. */
export function sizeNginx({ limits }: Config, box: NginxBox): NginxSizes {
  const pages = limits.maxInFlight + (limits.maxQueued || limits.maxInFlight);
  const clamped: string[] = [];
  const workerConnections = clampSize(
    {
      name: 'connections',
      wanted: 2 * pages + 1_024,
      most: Math.max(64, box.descriptors - SPARE_DESCRIPTORS),
      by: 'the limit on open files',
    },
    clamped,
  );
  const backlog = clampSize(
    { name: 'backlog', wanted: Math.max(511, pages), most: box.somaxconn, by: 'net.core.somaxconn' },
    clamped,
  );
  return {
    workerProcesses: Math.max(1, Math.min(box.cores, MAX_WORKER_PROCESSES)),
    workerConnections,
    descriptors: Math.min(box.descriptors, workerConnections + SPARE_DESCRIPTORS),
    backlog,
    pageDeadlineSeconds: Math.ceil(limits.pageDeadlineMs / 1_000),
    readTimeoutSeconds: Math.ceil((2 * limits.pageDeadlineMs + limits.maxWaitMs + ANSWER_MARGIN_MS) / 1_000),
    clamped,
  };
}
