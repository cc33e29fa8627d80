import type { Account } from '../account.ts';
import type { FakeClock } from '../clock.ts';
import { nextChangeMs } from '../table/observe-pod.ts';
import type { Bodies } from './bodies.ts';

export interface WakerDeps {
  readonly account: Account;
  readonly clock: FakeClock;
  readonly settle: () => void;
  readonly bodies: () => Bodies;
}

/** How often processes are looked at, in real time: they end by themselves. */
const LOOK_EVERY_MS = 500;
/** Several changes at once are one look. */
const SOON_MS = 2;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Carries out what is due when it is due, although nobody asks. */
export function createWaker({ account, clock, settle, bodies }: WakerDeps): { soon(): void; close(): void } {
  let timer: NodeJS.Timeout | null = null;
  let due: NodeJS.Timeout | null = null;
  let closed = false;

  function turn(): void {
    settle();
    bodies().reconcile({ poll: true });
    const nowMs = clock.nowMs();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const pod of account.pods.values()) nextMs = Math.min(nextMs, nextChangeMs(pod, nowMs));
    const waitMs = Math.min(
      nextMs === Number.POSITIVE_INFINITY ? nextMs : Math.max(1, clock.realMsUntil(nextMs)),
      bodies().hasProcesses() ? LOOK_EVERY_MS : Number.POSITIVE_INFINITY,
    );
    if (timer !== null) clearTimeout(timer);
    timer = waitMs === Number.POSITIVE_INFINITY ? null : setTimeout(turn, Math.min(waitMs, LONGEST_TIMER_MS));
  }

  return {
    soon() {
      if (closed || due !== null) return;
      due = setTimeout(() => {
        due = null;
        if (!closed) turn();
      }, SOON_MS);
    },
    close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      if (due !== null) clearTimeout(due);
    },
  };
}
