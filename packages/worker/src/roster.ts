import type { Roster, RosterWorker } from '@pagefleet/contract';

/** Exited workers are proof that their pages are over, and stay listed for as long as a controller may need to hear it. */
export const KEEP_EXITED_MS = 600_000;

/** Who exists in the group, and who has been proven gone. */
export interface RosterBook {
  set(worker: Omit<RosterWorker, 'sinceMs'>): void;
  state(bootId: string, state: RosterWorker['state']): void;
  get(bootId: string): RosterWorker | undefined;
  /** The next snapshot. Forgets exits that were told for long enough; `forgotten` names them. */
  snapshot(): { readonly roster: Roster; readonly forgotten: readonly string[] };
}

export interface RosterOptions {
  readonly group: string;
  readonly primaryId: string;
  readonly nowMs: () => number;
}

export function createRosterBook({ group, primaryId, nowMs }: RosterOptions): RosterBook {
  const workers = new Map<string, RosterWorker>();
  let seq = 0;

  function forget(): string[] {
    const forgotten: string[] = [];
    for (const { bootId, state, sinceMs } of workers.values()) {
      if (state !== 'exited' || nowMs() - sinceMs < KEEP_EXITED_MS) continue;
      workers.delete(bootId);
      forgotten.push(bootId);
    }
    return forgotten;
  }

  return {
    set: (worker) => void workers.set(worker.bootId, { ...worker, sinceMs: nowMs() }),
    state(bootId, state) {
      const worker = workers.get(bootId);
      // An exit is final: a late message of a process that is gone changes nothing.
      if (!worker || worker.state === state || worker.state === 'exited') return;
      workers.set(bootId, { ...worker, state, sinceMs: nowMs() });
    },
    get: (bootId) => workers.get(bootId),
    snapshot() {
      const forgotten = forget();
      seq += 1;
      return {
        roster: { v: 1, group, primaryId, seq, atMs: nowMs(), workers: [...workers.values()] },
        forgotten,
      };
    },
  };
}
