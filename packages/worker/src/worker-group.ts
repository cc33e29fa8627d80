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

export interface WorkerGroup {
  start(): void;
  /** Replaces every worker, one after another: the new one listens before the old one stops accepting. */
  replaceAll(): Promise<void>;
  /** Resolves when every worker has ended. */
  stop(deadlineMs: number): Promise<void>;
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

const PING_MS = 5_000;
/** Hung is worse than dead. */
const SILENT_MS = 60_000;
/** A replacement that does not listen by then is given up, and the old worker stays. */
const LISTEN_DEADLINE_MS = 60_000;
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 10_000;
/** A worker that lived this long did not crash at its start. */
const STABLE_MS = 10_000;

export function createWorkerGroup(options: WorkerGroupOptions): WorkerGroup {
  const { ports, roster, logger, onChange } = options;
  const members = new Map<string, Member>();
  const backoffMs = new Map<number, number>();
  let stopping = false;
  let replacing: Promise<void> | null = null;
  let replaceAgain = false;

  function launch(worker: number): Member {
    const bootId = newBootId();
    const now = monotonicMs();
    const member: Member = {
      bootId,
      worker,
      process: options.fork(bootId, worker),
      startedMs: now,
      lastPongMs: now,
      leaving: false,
      listening: Promise.withResolvers(),
      exited: Promise.withResolvers(),
    };
    members.set(bootId, member);
    const port = ports[worker] ?? 0;
    roster.set({ bootId, worker, port, pid: member.process.pid, state: 'starting' });
    logger.info({ bootId, worker, child: member.process.pid }, 'worker_started');
    member.process.onMessage(({ kind }) => {
      if (kind === 'pong') member.lastPongMs = monotonicMs();
      if (kind === 'port_taken') options.onPortTaken(port);
      if (kind === 'listening') onListening(member);
    });
    member.process.onExit((how) => onExit(member, how));
    onChange();
    return member;
  }

  function onListening(member: Member): void {
    if (!member.leaving) roster.state(member.bootId, 'listening');
    member.listening.resolve(true);
    onChange();
  }

  function onExit(
    member: Member,
    how: { readonly code: number | null; readonly signal: string | null },
  ): void {
    members.delete(member.bootId);
    roster.state(member.bootId, 'exited');
    member.listening.resolve(false);
    member.exited.resolve();
    onChange();
    options.onExit(member.bootId);
    const expected = member.leaving || stopping;
    logger[expected ? 'info' : 'error'](
      { bootId: member.bootId, worker: member.worker, ...how },
      'worker_exited',
    );
    if (!expected) void relaunch(member);
  }

  async function relaunch({ worker, startedMs }: Member): Promise<void> {
    const stable = monotonicMs() - startedMs > STABLE_MS;
    const pauseMs = stable ? 0 : (backoffMs.get(worker) ?? FIRST_BACKOFF_MS);
    backoffMs.set(worker, stable ? FIRST_BACKOFF_MS : Math.min(LONGEST_BACKOFF_MS, pauseMs * 2));
    await pause(pauseMs);
    const hasSuccessor = [...members.values()].some((other) => other.worker === worker && !other.leaving);
    if (!stopping && !hasSuccessor) launch(worker);
  }

  function tellToLeave(member: Member, deadlineMs: number | null): void {
    member.leaving = true;
    roster.state(member.bootId, 'leaving');
    member.process.send({ kind: 'leave', deadlineMs });
    onChange();
  }

  async function replaceOne(worker: number): Promise<void> {
    const old = [...members.values()].filter((member) => member.worker === worker && !member.leaving);
    const fresh = launch(worker);
    const listens = await Promise.race([
      fresh.listening.promise,
      pause(LISTEN_DEADLINE_MS).then(() => false),
    ]);
    if (!listens) {
      logger.error({ worker, bootId: fresh.bootId }, 'replacement_failed');
      fresh.leaving = true;
      fresh.process.kill();
      return;
    }
    for (const member of old) tellToLeave(member, null);
  }

  async function replaceEach(): Promise<void> {
    do {
      replaceAgain = false;
      for (const worker of ports.keys()) if (!stopping) await replaceOne(worker);
    } while (replaceAgain && !stopping);
  }

  function ping(): void {
    const now = monotonicMs();
    for (const member of members.values()) {
      if (now - member.lastPongMs > SILENT_MS) {
        logger.error(
          { bootId: member.bootId, silentMs: Math.round(now - member.lastPongMs) },
          'worker_hung_is_ended',
        );
        member.process.kill();
      } else {
        member.process.send({ kind: 'ping' });
      }
    }
  }

  return {
    start() {
      for (const worker of ports.keys()) launch(worker);
      setInterval(ping, PING_MS);
    },
    replaceAll() {
      replaceAgain = replacing !== null;
      replacing ??= replaceEach().finally(() => {
        replacing = null;
      });
      return replacing;
    },
    async stop(deadlineMs) {
      stopping = true;
      const all = [...members.values()];
      for (const member of all) tellToLeave(member, deadlineMs);
      await Promise.all(all.map((member) => member.exited.promise));
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
