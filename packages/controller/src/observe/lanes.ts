/** A fixed number of things at once; the rest wait in order. */
export interface Lanes {
  /** null = no lane came free in time */
  enter(timeoutMs: number): Promise<(() => void) | null>;
}

export function createLanes(count: number): Lanes {
  const waiting = new Set<() => void>();
  let free = count;

  function leave(): void {
    const [next] = waiting;
    if (next === undefined) {
      free += 1;
      return;
    }
    waiting.delete(next);
    next();
  }

  /** A lane is left once, however often its holder says so. */
  function ticket(): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      leave();
    };
  }

  return {
    enter(timeoutMs) {
      if (free > 0) {
        free -= 1;
        return Promise.resolve(ticket());
      }
      return new Promise((resolve) => {
        const take = () => {
          clearTimeout(timer);
          resolve(ticket());
        };
        const timer = setTimeout(() => {
          waiting.delete(take);
          resolve(null);
        }, timeoutMs);
        waiting.add(take);
      });
    },
  };
}
