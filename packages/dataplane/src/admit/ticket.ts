import type { UnitGate } from './unit-gate.ts';

/**
 * What one admitted request may have waiting and in flight. It holds one unit for as long as it is open, so it always gets
 * on by one page at a time; every page beside that one takes a further unit.
 */
export interface Ticket {
  /** Resolves with the function that gives the page's unit back (once; later calls do nothing). */
  takePage(signal: AbortSignal): Promise<() => void>;
  /** All pages must be over. */
  close(): void;
}

/** The caller has taken the first unit from the gate. */
export function createTicket(gate: UnitGate): Ticket {
  // invariant: pages ≤ units, units ≥ 1 while open, and nobody waits while pages < units
  let units = 1;
  let pages = 0;
  let open = true;
  const waiting = new Set<() => void>();

  function occupy(): () => void {
    pages += 1;
    let given = false;
    return () => {
      if (given) return;
      given = true;
      pages -= 1;
      leave();
    };
  }

  function leave(): void {
    const [next] = waiting;
    if (next) next();
    else if (units > 1) giveUnit();
  }

  function giveUnit(): void {
    units -= 1;
    gate.give();
  }

  function takePage(signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (pages < units) return Promise.resolve(occupy());
    return new Promise((resolve, reject) => {
      let withdraw = (): void => undefined;
      const end = (): void => {
        waiting.delete(enter);
        signal.removeEventListener('abort', onAbort);
        withdraw();
      };
      const enter = (): void => {
        end();
        resolve(occupy());
      };
      const onAbort = (): void => {
        end();
        reject(signal.reason);
      };
      waiting.add(enter);
      signal.addEventListener('abort', onAbort, { once: true });
      withdraw = gate.request(() => {
        units += 1;
        enter();
      });
    });
  }

  return {
    takePage,
    close() {
      if (!open) return;
      open = false;
      while (units > 0) giveUnit();
    },
  };
}
