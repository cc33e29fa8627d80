export interface PageSlots {
  /** Resolves with the function that gives the slot back (once; later calls do nothing), first come first served. */
  take(signal: AbortSignal): Promise<() => void>;
  free(): number;
  /** Resolves when no slot is taken. */
  idle(): Promise<void>;
}

/** invariant: taken ≤ width, and waiting is empty while a slot is free */
export function createPageSlots(width: number): PageSlots {
  let taken = 0;
  const waiting = new Set<() => void>();
  let idleWaiters: (() => void)[] = [];

  function give(): void {
    taken -= 1;
    const [next] = waiting;
    if (next) {
      waiting.delete(next);
      next();
    } else if (taken === 0) {
      for (const resolve of idleWaiters) resolve();
      idleWaiters = [];
    }
  }

  function occupy(): () => void {
    taken += 1;
    let given = false;
    return () => {
      if (given) return;
      given = true;
      give();
    };
  }

  function take(signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (taken < width) return Promise.resolve(occupy());
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve(occupy());
      };
      const leave = (): void => {
        waiting.delete(enter);
        reject(signal.reason);
      };
      waiting.add(enter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  return {
    take,
    free: () => width - taken,
    idle: () => (taken === 0 ? Promise.resolve() : new Promise((resolve) => idleWaiters.push(resolve))),
  };
}
