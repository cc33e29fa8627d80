import type { Dataplane } from '@pagefleet/dataplane';
import type { Bus } from '@pagefleet/runtime';

const INTERVAL_MS = 500;
/** Urgent reports closer together than this become one. */
const COALESCE_MS = 50;

export interface Reporter {
  stop(): void;
}

/** Reports every 500 ms, and at once on what cannot wait: a new slice, a suspicion, the first waiting page. */
export function startReporter(dataplane: Dataplane, bus: Bus, bootId: string): Reporter {
  let lastSentMs = 0;
  let urgent: NodeJS.Timeout | null = null;

  function send(): void {
    lastSentMs = performance.now();
    bus.publish('report', bootId, dataplane.report());
  }

  function hurry(): void {
    if (urgent) return;
    const waitMs = Math.max(0, lastSentMs + COALESCE_MS - performance.now());
    urgent = setTimeout(() => {
      urgent = null;
      send();
    }, waitMs);
  }

  const regular = setInterval(send, INTERVAL_MS);
  dataplane.onUrgent(hurry);
  const forgetState = bus.onState((connected) => {
    if (connected) hurry();
  });
  return {
    stop() {
      clearInterval(regular);
      if (urgent) clearTimeout(urgent);
      forgetState();
    },
  };
}
