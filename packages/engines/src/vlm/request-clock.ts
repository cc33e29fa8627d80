/** The time that one request may take, and whoever may end it before. */
export interface RequestClock {
  /** aborted by the reader’s caller, or when the time is up */
  readonly signal: AbortSignal;
  /** the time is up; false when the caller was first */
  readonly hasStruck: boolean;
  /** The time counts from now. */
  restart(): void;
  /** Forgets the caller’s signal, which may live for long. */
  stop(): void;
}

export function startRequestClock(caller: AbortSignal, timeoutMs: number): RequestClock {
  const controller = new AbortController();
  let struck = false;
  let timer = start();

  function start(): NodeJS.Timeout {
    return setTimeout(() => {
      struck = !controller.signal.aborted;
      controller.abort(new DOMException('the request took too long', 'TimeoutError'));
    }, timeoutMs);
  }
  function leave(): void {
    controller.abort(caller.reason);
  }

  caller.addEventListener('abort', leave, { once: true });
  if (caller.aborted) leave();
  return {
    signal: controller.signal,
    get hasStruck() {
      return struck;
    },
    restart() {
      clearTimeout(timer);
      timer = start();
    },
    stop() {
      clearTimeout(timer);
      caller.removeEventListener('abort', leave);
    },
  };
}
