import type { Config, Report, Slice } from '@pagefleet/contract';
import { toOpenAiError } from '@pagefleet/contract';
import type { Logger } from '@pagefleet/runtime';
import type { FastifyInstance } from 'fastify';
import { buildReport } from './build-report.ts';
import { ChatService } from './chat/chat-service.ts';
import { createParts, type Parts } from './create-parts.ts';
import { createPageSender } from './forward/send-page.ts';
import type { PageLine } from './read-pages.ts';
import { registerRoutes } from './register-routes.ts';
import { createExchange } from './reply/exchange.ts';
import { OcrService } from './serve-ocr.ts';
import type { Sizes } from './sizes.ts';

export interface DataplaneOptions {
  readonly config: Config;
  readonly clusterId: string;
  /** incarnation of this worker */
  readonly bootId: string;
  /** worker number; -1 = the controller’s forwarding child */
  readonly worker: number;
  /** the controller's epoch when this worker was born, if it is known; slices of it may give width at once */
  readonly epoch?: number;
  readonly stateDir: string;
  readonly logger: Logger;
}

/** A page's life in one process: from nginx to a pod and back. It needs no bus; slices are put in, reports taken out. */
export interface Dataplane {
  /** False when it is old or another worker's: the slice in force stays. */
  applySlice(slice: Slice): boolean;
  report(): Report;
  registerRoutes(app: FastifyInstance): void;
  /** Called when the controller should hear at once: a new slice, a suspicion, the first waiting page. */
  onUrgent(callback: () => void): void;
  /** Answers ask for no further request on their connection from now on. */
  leave(): void;
  /** requests being answered */
  open(): number;
  readonly sizes: Sizes;
  close(): Promise<void>;
}

/** Trials, suspensions and old slots are looked at this often; everything else happens when its cause does. */
const TICK_MS = 250;

export function createDataplane(options: DataplaneOptions): Dataplane {
  const listeners: (() => void)[] = [];
  const urgent = (): void => {
    for (const listener of listeners) listener();
  };
  const parts = createParts(options, urgent);
  const line = createLine(options.bootId, parts);
  const service = createService(options, parts, line);
  const chat = new ChatService({
    ...{ ...parts.reading, ...parts, ...options, line },
    door: { ...parts, config: options.config },
  });
  const ticking = setInterval(parts.forwarding.tick, TICK_MS);
  const life = { open: 0, leaving: false };

  return {
    sizes: parts.sizes,
    applySlice(given) {
      const applied = applySlice(given, parts);
      if (applied) urgent();
      return applied;
    },
    report: createReporting(options, parts),
    registerRoutes(app) {
      registerRoutes(app, {
        metrics: parts.metrics,
        health: () => healthOf(options, parts, life.leaving),
        serve(request, reply, kind) {
          life.open += 1;
          const isChat = kind !== 'one' && kind !== 'batch';
          const exchange = createExchange(request.raw, reply.raw, {
            requestId: request.id,
            ...(isChat ? { errorBody: toOpenAiError } : {}),
            figures: parts.admission.figures,
            leaving: () => life.leaving,
          });
          const served = isChat ? chat.serve(exchange, kind) : service.serve(exchange, kind);
          void served.finally(() => {
            life.open -= 1;
          });
        },
      });
    },
    onUrgent: (callback) => void listeners.push(callback),
    leave() {
      life.leaving = true;
    },
    open: () => life.open,
    async close() {
      clearInterval(ticking);
      parts.loopDelay.stop();
      await Promise.all([parts.pods.close(), parts.reading.close(), parts.workerReaders.close()]);
    },
  };
}

function applySlice(
  given: Slice,
  { slice, pools, reading, sizes, forwarding, pods, admission }: Parts,
): boolean {
  const next = slice.accept(given);
  if (!next) return false;
  pools.apply(next.pools);
  const { maxMemoryBytes, maxSpoolBytes } = next.limits;
  reading.budget.setLimits({ memory: Math.min(maxMemoryBytes, sizes.memoryBytes), spool: maxSpoolBytes });
  pods.apply(next.pods, next.gone);
  forwarding.wake();
  admission.wake();
  return true;
}

function createReporting({ bootId, worker }: DataplaneOptions, parts: Parts): () => Report {
  const { slice, loopDelay, admission, reading } = parts;
  let seq = 0;
  const sources = {
    ...parts,
    bootId,
    worker,
    budget: reading.budget,
    held: admission.held,
    loopDelayP99Ms: loopDelay.p99Ms,
  };
  return () => {
    seq += 1;
    const report = buildReport(sources, { epoch: slice.epoch, ack: slice.ack, seq });
    loopDelay.reset();
    return report;
  };
}

function createService(options: DataplaneOptions, parts: Parts, line: PageLine): OcrService {
  const { config, logger } = options;
  return new OcrService({
    ...parts.reading,
    config,
    logger,
    door: { ...parts, config },
    demand: parts.demand,
    line,
  });
}

function healthOf({ bootId, worker }: DataplaneOptions, { slice }: Parts, leaving: boolean): object {
  return { status: leaving ? 'leaving' : 'ok', bootId, worker, epoch: slice.epoch, rev: slice.ack };
}

function createLine(bootId: string, parts: Parts): PageLine {
  const { forwarding, workerReaders, queues, nowMs } = parts;
  const sendPage = createPageSender(parts.metrics);
  let pages = 0;
  return {
    readAhead: forwarding.readAhead,
    nextPageId() {
      pages += 1;
      return `${bootId}-${pages}`;
    },
    senderOf: (pool) => workerReaders.senderOf(pool) ?? sendPage,
    submit: forwarding.submit,
    withdraw: forwarding.withdraw,
    ownWaiting: (pool, key, document) => queues.of(pool).sizeOfDocument(key, document),
    nowMs,
  };
}
