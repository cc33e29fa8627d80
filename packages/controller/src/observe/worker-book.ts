import type { Report, Roster, RosterWorker } from '@pagefleet/contract';
import type { ReceivedReport } from '@pagefleet/core';

/** As long as rosters tell of an exit. */
const KEEP_EXITED_MS = 600_000;

/**
 * Who forwards pages and what they last said. Incarnations stay until their exit is proven and the proof is old: silence
 * frees nothing (DESIGN 6), so a primary that forgets a worker does not make it disappear.
 */
export class WorkerBook {
  readonly #reports = new Map<string, ReceivedReport>();
  readonly #rosters = new Map<string, Roster>();
  readonly #workers = new Map<string, RosterWorker>();

  /** false: an older report than the one we have */
  takeReport(report: Report, receivedAtMs: number): boolean {
    const held = this.#reports.get(report.bootId);
    if (held !== undefined && held.report.seq >= report.seq) return false;
    this.#reports.set(report.bootId, { report, receivedAtMs });
    return true;
  }

  /** true: a worker came, went or changed its state */
  takeRoster(roster: Roster): boolean {
    const held = this.#rosters.get(roster.group);
    if (held !== undefined && held.primaryId === roster.primaryId && held.seq >= roster.seq) return false;
    this.#rosters.set(roster.group, roster);
    let changed = false;
    for (const worker of roster.workers) {
      const known = this.#workers.get(worker.bootId);
      // An exit is final: a late message of an earlier primary does not raise the dead.
      if (known?.state === 'exited') continue;
      changed ||= known?.state !== worker.state || known.port !== worker.port;
      this.#workers.set(worker.bootId, worker);
    }
    return changed;
  }

  /** for proofs that come from elsewhere than a roster: the pid record of a worker nobody lists any more */
  markExited(bootId: string, atMs: number): boolean {
    const known = this.#workers.get(bootId);
    if (known === undefined || known.state === 'exited') return false;
    this.#workers.set(bootId, { ...known, state: 'exited', sinceMs: Math.round(atMs) });
    return true;
  }

  /** Drops what is known of workers whose exit was proven long ago, and reports of workers nobody ever listed. */
  sweep(nowMs: number): void {
    for (const { bootId, state, sinceMs } of this.#workers.values()) {
      if (state === 'exited' && nowMs - sinceMs > KEEP_EXITED_MS) this.#workers.delete(bootId);
    }
    for (const [bootId, { receivedAtMs }] of this.#reports) {
      if (!this.#workers.has(bootId) && nowMs - receivedAtMs > KEEP_EXITED_MS) this.#reports.delete(bootId);
    }
  }

  received(): ReceivedReport[] {
    return [...this.#reports.values()];
  }

  reportOf(bootId: string): ReceivedReport | null {
    return this.#reports.get(bootId) ?? null;
  }

  workers(): RosterWorker[] {
    return [...this.#workers.values()];
  }

  /** incarnations that may still send pages */
  alive(): string[] {
    return this.workers()
      .filter((worker) => worker.state !== 'exited')
      .map((worker) => worker.bootId);
  }

  roster(group: string): Roster | null {
    return this.#rosters.get(group) ?? null;
  }

  /** alive, as far as is known, but named by no roster in force */
  unlisted(): RosterWorker[] {
    const listed = new Set(
      [...this.#rosters.values()].flatMap((roster) => roster.workers.map((w) => w.bootId)),
    );
    return this.workers().filter((worker) => worker.state !== 'exited' && !listed.has(worker.bootId));
  }
}
