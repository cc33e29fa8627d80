import { PagefleetError, type WorkerLimits } from '@pagefleet/contract';
import { decideAdmit, effectiveMaxQueued, retryAfterSeconds } from '@pagefleet/core';
import { createTicket, type Ticket } from './ticket.ts';
import { createUnitGate } from './unit-gate.ts';

export interface AdmissionOptions {
  limits(): Pick<WorkerLimits, 'maxInFlight' | 'maxQueued'>;
  /** pages on pods now */
  inFlight(): number;
  /** finished, over the last minute */
  pagesPerSecond(): number;
  /** `no_capacity` when there is no pod that could take a page */
  refusalCode(): 'queue_full' | 'no_capacity';
  /** The cluster goes down: what is not in yet stays out. */
  closing(): boolean;
}

interface AdmitRequest {
  /** how long the caller is willing to be held instead of refused */
  readonly holdMs: number;
  readonly signal: AbortSignal;
}

/** The figures of R-013, of this worker: they add up to its limit when it refuses. */
export interface AdmissionFigures {
  readonly pageWidth: number;
  readonly queueLimit: number;
  readonly pagesInFlight: number;
  readonly pagesQueued: number;
}

/**
 * Counts every page this worker has taken on, in one place. A document is one page at the door; each further page of it
 * takes a unit of its own before it is split off.
 */
export interface Admission {
  admit(request: AdmitRequest): Promise<Ticket>;
  figures(): AdmissionFigures;
  /** requests held at the door */
  held(): number;
  /** pages taken on: waiting, being read in and in flight */
  taken(): number;
  /** Limits may have grown. */
  wake(): void;
}

export function createAdmission(options: AdmissionOptions): Admission {
  // The rate only matters for how long a refused caller should wait, so it is not computed to let one in.
  const gate = createUnitGate((taken) => decide(taken, 0).kind === 'admitted');
  let held = 0;

  function decide(taken: number, pagesPerSecond: number) {
    const { maxInFlight, maxQueued } = options.limits();
    const inFlight = Math.min(options.inFlight(), taken);
    return decideAdmit({
      inFlight,
      queued: taken - inFlight,
      maxInFlight,
      maxQueued,
      pages: 1,
      pagesPerSecond,
      jitter: Math.random(),
    });
  }

  function figures(): AdmissionFigures {
    const { maxInFlight, maxQueued } = options.limits();
    const pagesInFlight = options.inFlight();
    return {
      pageWidth: maxInFlight,
      queueLimit: effectiveMaxQueued(maxInFlight, maxQueued),
      pagesInFlight,
      pagesQueued: Math.max(0, gate.taken() - pagesInFlight),
    };
  }

  function refusal(): PagefleetError {
    const pagesPerSecond = options.pagesPerSecond();
    const decision = decide(gate.taken(), pagesPerSecond);
    const seconds =
      decision.kind === 'refused'
        ? decision.retryAfterSeconds
        : retryAfterSeconds({ pagesOver: 1, pagesPerSecond, jitter: Math.random() });
    return refusalError(options.refusalCode(), seconds, figures());
  }

  async function admit(request: AdmitRequest): Promise<Ticket> {
    if (options.closing()) throw closed();
    const ticket = await takeTicket(request);
    if (!options.closing()) return ticket;
    ticket.close();
    throw closed();
  }

  async function takeTicket({ holdMs, signal }: AdmitRequest): Promise<Ticket> {
    if (gate.tryTake()) return createTicket(gate);
    const { maxInFlight, maxQueued } = options.limits();
    // A held request costs a connection, so there are never more of them than there are pages.
    if (holdMs <= 0 || held >= maxInFlight + effectiveMaxQueued(maxInFlight, maxQueued)) throw refusal();
    held += 1;
    try {
      await hold(holdMs, signal);
    } finally {
      held -= 1;
    }
    return createTicket(gate);
  }

  function hold(holdMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        settle();
      };
      const onAbort = (): void => {
        withdraw();
        end(() => reject(signal.reason));
      };
      const timer = setTimeout(() => {
        withdraw();
        end(() => reject(refusal()));
      }, holdMs);
      signal.addEventListener('abort', onAbort, { once: true });
      const withdraw = gate.request(() => end(resolve));
    });
  }

  return { admit, figures, held: () => held, taken: gate.taken, wake: gate.wake };
}

function closed(): PagefleetError {
  return new PagefleetError('stopping', 'the cluster is going down and takes no new documents');
}

function refusalError(
  code: 'queue_full' | 'no_capacity',
  retryAfterSeconds: number,
  figures: AdmissionFigures,
): PagefleetError {
  const message =
    code === 'queue_full'
      ? 'as many pages as fit are in flight and waiting; wait as long as Retry-After says'
      : 'no pod serves now and as many pages as fit are waiting; wait as long as Retry-After says';
  return new PagefleetError(code, message, {
    details: {
      retryAfterSeconds,
      retry_after_s: retryAfterSeconds,
      page_width: figures.pageWidth,
      queue_limit: figures.queueLimit,
      pages_in_flight: figures.pagesInFlight,
      pages_queued: figures.pagesQueued,
    },
  });
}
