import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterFile } from '@pagefleet/contract';
import { type Bus, type ClusterPaths, type Logger, monotonicMs, programPath } from '@pagefleet/runtime';
import { CHILD_NUMBER, ChildRoster } from './child-roster.ts';

interface ChildOptions {
  readonly cluster: ClusterFile;
  readonly paths: ClusterPaths;
  readonly bus: Bus;
  readonly controllerId: string;
  readonly logger: Logger;
}

/** By this variable a forwarding process learns the name under which its parent lists it. */
const BOOT_ID_VARIABLE = 'PAGEFLEET_BOOT_ID';
const ROSTER_MS = 500;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
/** A child that lived this long starts again at once. */
const SETTLED_MS = 60_000;
/** One without pages leaves within nginx's keep-alive of 5 s; one with pages finishes them by itself. */
const STOP_WAIT_MS = 8_000;

/**
 * The forwarding path of the controller, in a process of its own: the worker program, with no page on the controller's
 * loop. It outlives us: when its pipe breaks it stops accepting, finishes and exits; until then it holds its port, for
 * which the next one waits.
 */
export class ForwardingChild {
  readonly #options: ChildOptions;
  readonly #roster: ChildRoster;
  readonly #stops: (() => void)[] = [];
  #child: ChildProcess | null = null;
  #pauseMs = FIRST_PAUSE_MS;
  #stopping = false;

  constructor(options: ChildOptions) {
    this.#options = options;
    this.#roster = new ChildRoster({
      workersDir: options.paths.workersDir,
      primaryId: options.controllerId,
      nowMs: Date.now,
    });
  }

  async start(): Promise<void> {
    const { bus, logger } = this.#options;
    const orphans = await this.#roster.recallOrphans();
    if (orphans.length > 0) logger.warn({ orphans }, 'forwarder_orphans_found');
    const timer = setInterval(() => void this.#beat(), ROSTER_MS);
    this.#stops.push(
      () => clearInterval(timer),
      bus.onState((connected) => {
        if (connected) this.#publish();
      }),
    );
    this.#publish();
    this.#spawn();
  }

  /** Asks the child to finish and waits a little; what still reads pages then goes on by itself. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (child !== null) {
      child.kill('SIGTERM');
      await Promise.race([once(child, 'exit'), sleep(STOP_WAIT_MS, undefined, { ref: false })]);
    }
    for (const stop of this.#stops) stop();
    this.#publish();
  }

  #spawn(): void {
    if (this.#stopping) return;
    const { cluster, logger } = this.#options;
    const bootId = randomBytes(6).toString('hex');
    const startedMs = monotonicMs();
    const child = spawn(cluster.nodeBinary, [programPath('worker'), '--backup'], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, PAGEFLEET_STATE: cluster.stateDir, [BOOT_ID_VARIABLE]: bootId },
    });
    this.#child = child;
    const row = { bootId, worker: CHILD_NUMBER, pid: child.pid ?? 1, port: cluster.ports.backup };
    if (child.pid !== undefined) this.#tell({ ...row, state: 'starting' });
    child.on('message', (message) => {
      if (isListening(message)) this.#tell({ ...row, state: 'listening' });
    });
    let ended = false;
    const onEnd = (how: object) => {
      if (ended) return;
      ended = true;
      this.#child = null;
      this.#tell({ ...row, state: 'exited' });
      if (this.#stopping) return;
      const livedMs = Math.round(monotonicMs() - startedMs);
      logger.error({ bootId, livedMs, ...how }, 'forwarder_exited');
      this.#pauseMs = livedMs > SETTLED_MS ? FIRST_PAUSE_MS : Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
      setTimeout(() => this.#spawn(), this.#pauseMs);
    };
    child.once('error', (err) => {
      // A signal that could not be sent is an error too; only a child that never started has no pid.
      if (child.pid === undefined) onEnd({ err });
    });
    child.once('exit', (code, signal) => onEnd({ code, signal }));
  }

  async #beat(): Promise<void> {
    await this.#roster.lookAtOrphans();
    this.#publish();
  }

  #tell(row: Parameters<ChildRoster['set']>[0]): void {
    this.#roster.set(row);
    this.#publish();
  }

  #publish(): void {
    this.#options.bus.publish('roster', 'backup', this.#roster.next());
  }
}

function isListening(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'kind' in message && message.kind === 'listening';
}
