/** A page's place in the pod: counted from before its body is read until its reading is over. */
export interface PageTicket {
  /** Resolves when the page may be read. Pages go in the order in which they ask. Rejects with the signal's reason. */
  slot(signal: AbortSignal): Promise<void>;
  /** Gives back the place and the slot. Later calls do nothing; a page that still waits for its slot never gets it. */
  leave(): void;
}

export interface PageGate {
  /** Null when the pod is full: as many pages run as its width allows, and as many again wait. */
  enter(): PageTicket | null;
  running(): number;
  /** Pages that are inside and do not run: their body is being read, or all slots are taken. */
  waiting(): number;
}

/**
 * The last line of the width (DESIGN section 6): whatever is sent, at most `width` pages run and at most `width` more
 * wait. Invariants: running ≤ width; inside ≤ 2 × width; nobody queues while a slot is free.
 */
export function createPageGate(width: number): PageGate {
  let inside = 0;
  let running = 0;
  const queue = new Set<() => void>();

  function createTicket(): PageTicket {
    let state: 'outside' | 'inside' | 'running' = 'inside';
    let stopWaiting: (() => void) | null = null;

    function run(): void {
      state = 'running';
      running += 1;
    }

    function waitForSlot(signal: AbortSignal): Promise<void> {
      return new Promise((resolve, reject) => {
        const enter = (): void => {
          stopWaiting?.();
          run();
          resolve();
        };
        const giveUp = (): void => {
          stopWaiting?.();
          reject(signal.reason);
        };
        stopWaiting = () => {
          queue.delete(enter);
          signal.removeEventListener('abort', giveUp);
        };
        queue.add(enter);
        signal.addEventListener('abort', giveUp, { once: true });
      });
    }

    return {
      async slot(signal) {
        signal.throwIfAborted();
        if (running < width) run();
        else await waitForSlot(signal);
      },
      leave() {
        if (state === 'outside') return;
        const hadSlot = state === 'running';
        state = 'outside';
        inside -= 1;
        stopWaiting?.();
        if (!hadSlot) return;
        running -= 1;
        const [next] = queue;
        next?.();
      },
    };
  }

  return {
    enter() {
      if (inside >= 2 * width) return null;
      inside += 1;
      return createTicket();
    },
    running: () => running,
    waiting: () => inside - running,
  };
}
