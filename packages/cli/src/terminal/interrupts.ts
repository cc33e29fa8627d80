import { PagefleetError } from '@pagefleet/contract';

/** A terminal and npm both pass a Ctrl-C on: what comes within this time is the same press. */
const SAME_PRESS_MS = 400;

export interface Interrupts {
  /** aborted by the first SIGINT, SIGTERM or SIGHUP, with `interrupted` as the reason */
  readonly first: AbortSignal;
  /** which signal that was */
  firstName(): NodeJS.Signals | null;
  /** aborted by the second one: stop waiting */
  readonly second: AbortSignal;
}

/** From now on signals ask the program to end, instead of ending it. */
export function watchInterrupts(): Interrupts {
  const first = new AbortController();
  const second = new AbortController();
  let firstMs = 0;
  let name: NodeJS.Signals | null = null;
  const onSignal = (signal: NodeJS.Signals): void => {
    const nowMs = performance.now();
    if (!first.signal.aborted) {
      firstMs = nowMs;
      name = signal;
      first.abort(interrupted(signal));
    } else if (nowMs - firstMs > SAME_PRESS_MS) {
      second.abort(interrupted(signal));
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  return { first: first.signal, firstName: () => name, second: second.signal };
}

function interrupted(signal: NodeJS.Signals): PagefleetError {
  return new PagefleetError('interrupted', `Stopped by ${signal}.`);
}
