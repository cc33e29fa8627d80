import type { ErrorCode } from '@pagefleet/contract';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { createModelMetrics, type ModelMetrics } from './model-metrics.ts';
import { createRateWindow } from './rate-window.ts';

/** What is read at the moment somebody asks. */
export interface LiveFigures {
  inFlight(): Iterable<readonly [pod: string, pages: number]>;
  waiting(): Iterable<readonly [pool: string, pages: number]>;
  unsplit(): Iterable<readonly [pool: string, pages: number]>;
  held(): number;
  bytes(place: 'memory' | 'spool'): number;
  loopDelayP99Ms(): number;
}

interface Totals {
  pagesOk: number;
  pagesFailed: number;
  pagesRefused: number;
  pagesRetried: number;
}

/** Requests for a chat are counted apart from pages. */
type Unit = 'page' | 'chat';

export interface Metrics extends Omit<ModelMetrics, 'chatDone' | 'chatSeconds'> {
  readonly totals: Readonly<Totals>;
  pageRead(pool: string, what: Unit, ms: number): void;
  pageFailed(pool: string, what: Unit, code: ErrorCode): void;
  pageRefused(code: ErrorCode): void;
  pageRetried(pool: string): void;
  slotSwept(): void;
  /** A limit of our own kept a page from being sent. */
  shortage(): void;
  /** finished, good or bad, over the last minute */
  pagesPerSecond(): number;
  /** Prometheus text. */
  render(): Promise<string>;
  readonly contentType: string;
}

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

export function createMetrics(live: LiveFigures, nowMs: () => number): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const pages = new Counter({
    name: 'pagefleet_pages_total',
    help: 'Pages by outcome; the code of a failure, or ok',
    labelNames: ['pool', 'outcome'],
    registers,
  });
  const refused = new Counter({
    name: 'pagefleet_refused_total',
    help: 'Requests refused at the door, by code',
    labelNames: ['code'],
    registers,
  });
  const retried = new Counter({
    name: 'pagefleet_retried_total',
    help: 'Pages sent again after a failed dispatch',
    labelNames: ['pool'],
    registers,
  });
  const swept = new Counter({
    name: 'pagefleet_slots_swept_total',
    help: 'Slots returned because of their age',
    registers,
  });
  const shortages = new Counter({
    name: 'pagefleet_shortages_total',
    help: 'Dispatches kept back by a limit of our own: descriptors, ports, memory',
    registers,
  });
  const seconds = new Histogram({
    name: 'pagefleet_page_seconds',
    help: 'Time on the pod of pages that were read',
    labelNames: ['pool'],
    buckets: SECONDS,
    registers,
  });
  addGauges(live, registers);
  const { chatDone, chatSeconds, ...model } = createModelMetrics(registers);
  const finished = createRateWindow(nowMs());
  const totals: Totals = { pagesOk: 0, pagesFailed: 0, pagesRefused: 0, pagesRetried: 0 };

  function finish(pool: string, what: Unit, outcome: string): void {
    finished.add(nowMs());
    if (what === 'chat') chatDone(pool, outcome);
    else pages.inc({ pool, outcome });
  }

  return {
    ...model,
    totals,
    pageRead(pool, what, ms) {
      totals.pagesOk += 1;
      finish(pool, what, 'ok');
      if (what === 'chat') chatSeconds(pool, ms / 1_000);
      else seconds.observe({ pool }, ms / 1_000);
    },
    pageFailed(pool, what, code) {
      totals.pagesFailed += 1;
      finish(pool, what, code);
    },
    pageRefused(code) {
      totals.pagesRefused += 1;
      refused.inc({ code });
    },
    pageRetried(pool) {
      totals.pagesRetried += 1;
      retried.inc({ pool });
    },
    slotSwept: () => swept.inc(),
    shortage: () => shortages.inc(),
    pagesPerSecond: () => finished.perSecond(nowMs()),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function addGauges(live: LiveFigures, registers: Registry[]): void {
  labelled('pagefleet_pages_in_flight', 'Pages in flight, by pod', 'pod', live.inFlight, registers);
  labelled('pagefleet_pages_waiting', 'Pages waiting, by pool', 'pool', live.waiting, registers);
  labelled(
    'pagefleet_pages_unsplit',
    'Pages known but not yet split off, by pool',
    'pool',
    live.unsplit,
    registers,
  );
  single('pagefleet_requests_held', 'Requests held at the door', live.held, registers);
  single(
    'pagefleet_bytes_in_memory',
    'Bytes of bodies and pages in memory',
    () => live.bytes('memory'),
    registers,
  );
  single(
    'pagefleet_bytes_spooled',
    'Bytes of bodies and pages on disk',
    () => live.bytes('spool'),
    registers,
  );
  single(
    'pagefleet_loop_delay_p99_ms',
    'Delay of the event loop, 99th percentile',
    live.loopDelayP99Ms,
    registers,
  );
}

function labelled(
  name: string,
  help: string,
  label: string,
  read: () => Iterable<readonly [string, number]>,
  registers: Registry[],
): void {
  new Gauge({
    name,
    help,
    labelNames: [label],
    registers,
    collect() {
      this.reset();
      for (const [value, count] of read()) this.set({ [label]: value }, count);
    },
  });
}

function single(name: string, help: string, read: () => number, registers: Registry[]): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(read());
    },
  });
}
