import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { PagefleetError, type PageResult } from '@pagefleet/contract';
import type { Logger } from '@pagefleet/runtime';
import { createEngineLife } from '../../packages/engines/src/engine-life.ts';
import type { Engine, PageInput } from '../../packages/engines/src/port.ts';
import { createServerRun, type ServerRunParts } from '../../packages/engines/src/server/server-run.ts';
import type { ServerRules } from '../../packages/engines/src/server/server-state.ts';
import { createEngineKeeper, type EngineKeeper } from '../../packages/gateway/src/engine-keeper.ts';
import type { DecideKeeping } from '../../packages/gateway/src/keeper-state.ts';
import { createPod, type Pod } from '../../packages/gateway/src/pod.ts';
import { takePage } from '../../packages/gateway/src/take-page.ts';
import { podSettings } from '../../packages/gateway/src/test-kit/pod-settings.ts';
import { Child, type Fate } from './engine-child.ts';
import { settle, Timeline } from './engine-timeline.ts';

export const START_MS = 600_000;
const WIDTH = 3;
const PNG = Buffer.from('89504e470d0a1a0a00000000', 'hex');

interface FakeConnection {
  readonly child: Child;
  probe: Child['probe'];
  close(): Promise<void>;
}

/** Rules broken on purpose, at the seams that the code has for its clock and its rules. */
export interface EngineSabotage {
  readonly decide?: DecideKeeping;
  readonly rules?: ServerRules;
  readonly parts?: (parts: ServerRunParts<FakeConnection>) => ServerRunParts<FakeConnection>;
  readonly engine?: (engine: Engine) => Engine;
}

export interface PageInside {
  readonly id: string;
  readonly hangUp: () => void;
  ends: number;
}

/** The keeper, the engine's life, the server's run and the page's way in, as they are, over simulated processes and time. */
export class EngineWorld {
  readonly time = new Timeline();
  readonly children: Child[] = [];
  readonly pages: PageInside[] = [];
  readonly violations: string[] = [];
  /** what each attempt to start was, and when nothing was left of it */
  readonly attempts: { readonly child: Child | null; readonly atMs: number; endedMs: number | null }[] = [];
  readonly engines: Engine[] = [];
  readonly keeper: EngineKeeper;
  readonly pod: Pod;
  nextFate: () => Fate | null;
  isDiskFull = false;
  isStopping = false;
  isStopped = false;
  stuckPages = 0;
  condemners: { readonly child: Child | undefined; readonly condemn: () => void }[] = [];

  constructor(nextFate: () => Fate | null, sabotage: EngineSabotage = {}) {
    this.nextFate = nextFate;
    const logger = {
      ...{ info: () => undefined, error: () => undefined, warn: () => undefined },
      child: () => logger,
    } as unknown as Logger;
    this.keeper = createEngineKeeper({
      create: () => this.#createEngine(sabotage),
      pause: this.time.sleep,
      nowMs: this.time.nowMs,
      logger,
      ...(sabotage.decide && { decide: sabotage.decide }),
    });
    const settings = podSettings({ width: WIDTH, deadManMs: 1e9 });
    this.pod = createPod({ settings, engine: this.keeper, logger, monotonicMs: this.time.nowMs });
  }

  get child(): Child | undefined {
    return this.children.at(-1);
  }

  broken(law: string): void {
    this.violations.push(`${Math.round(this.time.nowMs())} ms: ${law}`);
  }

  #createEngine({
    rules,
    parts: change = (same) => same,
    engine: wrap = (same) => same,
  }: EngineSabotage): Engine {
    const record = {
      endLeftover: async () => false,
      write: async () => this.#onDisk(),
      remove: async () => this.#onDisk(),
    };
    const run = createServerRun(
      change({
        ...{ program: 'vllm', startMs: START_MS, record, clock: this.time, onEvent: () => undefined },
        launch: () => this.#launch(),
        meet: async ({ child }, signal) => {
          await child.during(10, signal);
          if (!child.fate.isNoModelServer) return;
          child.isMisfit = true;
          throw new PagefleetError('config_invalid', `child ${child.n}: no vLLM`);
        },
        tryPage: ({ child }, signal) => this.#tryPage(child, signal),
        ...(rules && { rules }),
      }),
    );
    const life = createEngineLife(
      {
        name: 'simulated',
        version: () => '1',
        ...{ open: run.open, condition: run.condition },
        read: (page) => this.#read(run.connection()?.child, page),
        close: run.close,
      },
      WIDTH,
      () => this.time.sleep(10_000),
    );
    const engine = wrap(life);
    this.engines.push(engine);
    return engine;
  }

  async #onDisk(): Promise<void> {
    if (this.isDiskFull) throw new Error('ENOSPC');
  }

  async #launch() {
    await this.time.sleep(20);
    const living = this.children.filter(({ isThere }) => isThere).map(({ n }) => n);
    if (living.length > 0) this.broken(`one engine: child ${living} lives and another one starts`);
    if (this.isStopped) this.broken('stop: an engine starts after the end');
    const fate = this.nextFate();
    const child = fate && new Child(this.children.length + 1, fate, this.time);
    this.attempts.push({ child, atMs: this.time.nowMs(), endedMs: null });
    if (child === null) {
      this.#attemptEnded();
      throw new PagefleetError('engine_not_ready', 'spawn failed');
    }
    this.children.push(child);
    void child.gone.promise.then(() => this.#attemptEnded());
    const connection: FakeConnection = {
      child,
      probe: (ms) => child.probe(ms),
      close: async () => undefined,
    };
    return { process: child.process(() => this.#onStop(child)), connection };
  }

  #attemptEnded(): void {
    const last = this.attempts.at(-1);
    if (last) last.endedMs = this.time.nowMs();
  }

  async #tryPage(child: Child, signal: AbortSignal): Promise<void> {
    const { kind, ms, failing } = child.fate.trial;
    await child.during(kind === 'silent' ? 1e12 : ms, signal);
    if (child.failedTrials < failing) {
      child.failedTrials += 1;
      throw new Error(`child ${child.n}: HTTP 500`);
    }
    child.pageReadMs ??= this.time.nowMs();
    child.toldSick = 0;
  }

  async #read(child: Child | undefined, page: PageInput): Promise<PageResult> {
    if (child === undefined) throw new Error('nobody reads');
    if (this.stuckPages > 0) {
      this.stuckPages -= 1;
      await child.gone.promise;
      throw new Error('socket hang up');
    }
    await child.during(3_000, page.signal);
    return { text: 'read', engineMs: 1 } as PageResult;
  }

  /** The one question of the law: did what was ended deserve it? */
  #onStop(child: Child): void {
    const { isAlive, isCondemned, isMisfit, toldSick, pageReadMs, failedTrials, bornMs } = child;
    const isLate = this.time.nowMs() - bornMs >= START_MS;
    const isBadStart = pageReadMs === null && (isLate || failedTrials >= 3 || isMisfit);
    if (!isAlive || isCondemned || toldSick >= 3 || isBadStart || this.isStopping) return;
    this.broken(`L16: child ${child.n} was ended although it lives`);
  }

  sendPage(): void {
    const id = `page-${this.pages.length}`;
    const headers = { authorization: `Bearer ${podSettings().token}`, 'x-page-id': id, 'x-owner': 'ours' };
    const response = Object.assign(new EventEmitter(), {
      ...{ writableFinished: false, destroyed: false, headersSent: false },
      ...{ setHeader: () => undefined, getHeader: () => undefined },
    });
    const page: PageInside = { id, ends: 0, hangUp: () => response.emit('close') };
    this.pages.push(page);
    const request = Object.assign(Readable.from([PNG]), { headers }) as unknown as IncomingMessage;
    const exchange = { request, response: response as unknown as ServerResponse, requestId: id };
    const end = (): void => {
      page.ends += 1;
    };
    takePage(this.pod, exchange).then(end, end);
  }

  /** A reading does not end: its page says so of the engine that it began in, perhaps when there is another one. */
  condemn(): void {
    const old = this.condemners[0];
    this.condemners = [];
    if (this.keeper.state() !== 'ready' && this.keeper.state() !== 'busy') {
      old?.condemn();
      return;
    }
    const { child } = this;
    this.condemners = [{ child, condemn: this.keeper.condemner() }];
    if (old && old.child !== child) {
      old.condemn();
      return;
    }
    if (child) child.isCondemned = true;
    child?.doneFor();
    this.condemners[0]?.condemn();
  }

  stop(): void {
    this.isStopping = true;
    this.pod.stopping = true;
    this.pod.register.abortAll(new PagefleetError('stopping', 'the pod ends'));
    void this.keeper.close().then(() => {
      this.isStopped = true;
      const left = this.children.filter(({ isThere }) => isThere).map(({ n }) => n);
      if (left.length > 0) this.broken(`stop: child ${left} is left`);
    });
  }

  async advance(ms: number): Promise<void> {
    await settle();
    await this.time.advance(ms);
  }
}
