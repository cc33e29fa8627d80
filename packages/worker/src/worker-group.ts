import { type Logger, monotonicMs } from '@pagefleet/runtime';
import { newBootId } from './boot-id.ts';
import type { ForkMember, MemberProcess } from './fork-member.ts';
import type { RosterBook } from './roster.ts';

export interface WorkerGroupOptions {
  /** one per worker number */
  readonly ports: readonly number[];
  readonly roster: RosterBook;
  readonly logger: Logger;
  readonly fork: ForkMember;
  /** The roster has changed. */
  onChange(): void;
  onPortTaken(port: number): void;
  /** Its process is gone; the roster says so already. */
  onExit(bootId: string): void;
}

interface Member {
  readonly bootId: string;
  readonly worker: number;
  readonly process: MemberProcess;
  readonly startedMs: number;
  lastPongMs: number;
  leaving: boolean;
  readonly listening: PromiseWithResolvers<boolean>;
  readonly exited: PromiseWithResolvers<void>;
}

interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
}

const PING_MS = 5_000;
/** Hung is worse than dead. */
const SILENT_MS = 60_000;
/** A replacement that does not listen by then is given up, and the old worker stays. */
const LISTEN_DEADLINE_MS = 60_000;
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 10_000;
/** A worker that lived this long did not crash at its start. */
const STABLE_MS = 10_000;

/** The workers of one primary: one per port, ended when hung, back after a crash, replaced one by one. */
export class WorkerGroup {
  readonly #options: WorkerGroupOptions;
  readonly #members = new Map<string, Member>();
  readonly #backoffMs = new Map<number, number>();
  #stopping = false;
  #replacing: Promise<void> | null = null;
  #replaceAgain = false;

  constructor(options: WorkerGroupOptions) {
    this.#options = options;
  }

  start(): void {
    for (const worker of this.#options.ports.keys()) this.#launch(worker);
    setInterval(() => this.#ping(), PING_MS);
  }

  /** Replaces every worker: the new one listens before the old one stops accepting. Asked for meanwhile, it does so once more. */
  replaceAll(): Promise<void> {
    this.#replaceAgain = this.#replacing !== null;
    this.#replacing ??= this.#replaceEach().finally(() => {
      this.#replacing = null;
    });
    return this.#replacing;
  }

  /** Resolves when every worker has ended. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    const all = [...this.#members.values()];
    for (const member of all) this.#tellToLeave(member, deadlineMs);
    await Promise.all(all.map((member) => member.exited.promise));
  }

  #launch(worker: number): Member {
    const { fork, roster, logger, ports, onChange } = this.#options;
    const bootId = newBootId();
    const now = monotonicMs();
    const member: Member = {
      bootId,
      worker,
      process: fork(bootId, worker),
      startedMs: now,
      lastPongMs: now,
      leaving: false,
      listening: Promise.withResolvers(),
      exited: Promise.withResolvers(),
    };
    this.#members.set(bootId, member);
    const { pid } = member.process;
    if (pid > 0) roster.set({ bootId, worker, port: ports[worker] ?? 0, pid, state: 'starting' });
    logger.info({ bootId, worker, child: pid }, 'worker_started');
    this.#listenTo(member);
    onChange();
    return member;
  }

  #listenTo(member: Member): void {
    const { ports, onPortTaken } = this.#options;
    member.process.onMessage(({ kind }) => {
      if (kind === 'pong') member.lastPongMs = monotonicMs();
      if (kind === 'port_taken') onPortTaken(ports[member.worker] ?? 0);
      if (kind === 'listening') this.#onListening(member);
    });
    member.process.onExit((how) => this.#onExit(member, how));
  }

  #onListening(member: Member): void {
    if (!member.leaving) this.#options.roster.state(member.bootId, 'listening');
    member.listening.resolve(true);
    this.#options.onChange();
  }

  #onExit(member: Member, how: Ending): void {
    const { roster, logger, onChange, onExit } = this.#options;
    this.#members.delete(member.bootId);
    roster.state(member.bootId, 'exited');
    member.listening.resolve(false);
    member.exited.resolve();
    onChange();
    onExit(member.bootId);
    const expected = member.leaving || this.#stopping;
    const facts = { bootId: member.bootId, worker: member.worker, ...how };
    logger[expected ? 'info' : 'error'](facts, 'worker_exited');
    if (!expected) void this.#relaunch(member);
  }

  async #relaunch({ worker, startedMs }: Member): Promise<void> {
    const stable = monotonicMs() - startedMs > STABLE_MS;
    const pauseMs = stable ? 0 : (this.#backoffMs.get(worker) ?? FIRST_BACKOFF_MS);
    this.#backoffMs.set(worker, stable ? FIRST_BACKOFF_MS : Math.min(LONGEST_BACKOFF_MS, pauseMs * 2));
    await pause(pauseMs);
    const hasSuccessor = [...this.#members.values()].some(
      (other) => other.worker === worker && !other.leaving,
    );
    if (!this.#stopping && !hasSuccessor) this.#launch(worker);
  }

  #tellToLeave(member: Member, deadlineMs: number | null): void {
    member.leaving = true;
    this.#options.roster.state(member.bootId, 'leaving');
    member.process.send({ kind: 'leave', deadlineMs });
    this.#options.onChange();
  }

  async #replaceEach(): Promise<void> {
    do {
      this.#replaceAgain = false;
      for (const worker of this.#options.ports.keys()) {
        if (!this.#stopping) await this.#replaceOne(worker);
      }
    } while (this.#replaceAgain && !this.#stopping);
  }

  async #replaceOne(worker: number): Promise<void> {
    const old = [...this.#members.values()].filter((member) => member.worker === worker && !member.leaving);
    const fresh = this.#launch(worker);
    const listens = await Promise.race([
      fresh.listening.promise,
      pause(LISTEN_DEADLINE_MS).then(() => false),
    ]);
    if (listens) {
      for (const member of old) this.#tellToLeave(member, null);
      return;
    }
    this.#options.logger.error({ worker, bootId: fresh.bootId }, 'replacement_failed');
    fresh.leaving = true;
    fresh.process.kill();
  }

  #ping(): void {
    const now = monotonicMs();
    for (const member of this.#members.values()) {
      const silentMs = Math.round(now - member.lastPongMs);
      if (silentMs <= SILENT_MS) {
        member.process.send({ kind: 'ping' });
        continue;
      }
      this.#options.logger.error({ bootId: member.bootId, silentMs }, 'worker_hung_is_ended');
      member.process.kill();
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
