import type { Bus } from '@pagefleet/runtime';
import type { RosterBook } from './roster.ts';
import { removeRecord } from './worker-record.ts';

const INTERVAL_MS = 500;

export interface RosterPublisher {
  /** Something has changed. */
  readonly now: () => void;
  stop(): void;
}

/** Publishes the roster on every change and every 500 ms. */
export function publishRoster(options: {
  readonly roster: RosterBook;
  readonly bus: Bus;
  readonly workersDir: string;
}): RosterPublisher {
  const { roster, bus, workersDir } = options;

  function publish(): void {
    const { roster: snapshot, forgotten } = roster.snapshot();
    bus.publish('roster', snapshot.group, snapshot);
    for (const bootId of forgotten) void removeRecord(workersDir, bootId);
  }

  const timer = setInterval(publish, INTERVAL_MS);
  const forgetState = bus.onState((connected) => {
    if (connected) publish();
  });
  return {
    now: publish,
    stop() {
      clearInterval(timer);
      forgetState();
      publish();
    },
  };
}
