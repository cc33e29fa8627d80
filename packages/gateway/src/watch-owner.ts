import type { Pod } from './pod.ts';
import type { PodHome } from './pod-home.ts';

export type Abandonment = 'dead_man' | 'account_gone';

const LONGEST_TURN_MS = 5_000;

/**
 * Looks regularly whether anybody still owns this pod and calls `onAbandoned` once when not. It must be true twice
 * in a row: a process that was stopped for a while first hears what came in the meantime. While a page is in the pod its
 * sender is connected, and that is hearing from it.
 */
export function watchOwner(
  pod: Pod,
  home: Pick<PodHome, 'isThere'> | null,
  onAbandoned: (why: Abandonment) => void,
): { turn(): Promise<void>; stop(): void } {
  let before: Abandonment | null = null;

  async function observe(): Promise<Abandonment | null> {
    if (pod.gate.running() + pod.gate.waiting() > 0) pod.owner.hearAgain();
    if (pod.owner.isAbandoned()) return 'dead_man';
    if (home && !(await home.isThere().catch(() => true))) return 'account_gone';
    return null;
  }

  async function turn(): Promise<void> {
    const now = await observe();
    if (now !== null && now === before) {
      stop();
      onAbandoned(now);
    }
    before = now;
  }

  const everyMs = Math.min(LONGEST_TURN_MS, Math.ceil(pod.settings.deadManMs / 20));
  const timer = setInterval(() => void turn(), everyMs);
  const stop = (): void => clearInterval(timer);
  return { turn, stop };
}
