import { createHmac } from 'node:crypto';
import type { ClusterSecret } from '@pagefleet/runtime';
import { createPrng, type Prng } from '../hand-over/prng.ts';
import { Cloud } from './cloud.ts';
import { ControlBus } from './control-bus.ts';
import { Disk } from './disk.ts';
import { AnswerBook } from './laws/answer-book.ts';
import { PlanLaws } from './laws/plan-laws.ts';
import { type Knowledge, PortLaws } from './laws/port-laws.ts';
import { SpendLaws } from './laws/spend-laws.ts';
import { StateLaws } from './laws/state-laws.ts';
import { type CallName, type CrashPhase, Life } from './life.ts';
import type { BuildController, Outside, TestedController, WorldSettings } from './outside.ts';
import { PodNetwork } from './pod-network.ts';
import { offersOf } from './settings.ts';
import { createSimProvider, ProviderFaults } from './sim-provider.ts';
import { VirtualClock } from './virtual-clock.ts';
import { Work } from './work.ts';

export const CLUSTER_ID = 'c1';
const START_MS = 1_700_000_000_000;
const RESTART_MS = 2_000;
/** between the question who is in charge and the call that rests on its answer */
const CHARGE_WINDOW_MS = 5;
/** After that, all that is remembered is younger than a clock that was set back. */
const CLOCK_BACK_MS = 300_000;
/** after which a controller that asks NATS who is in charge gives up */
const BUS_PATIENCE_MS = 3_000;
/** … of a process that was stopped in between: an action older than that is never sent */
const STOPPED_WINDOW_MS = 31_000;

export interface Broken {
  readonly law: string;
  readonly sentence: string;
  readonly atMs: number;
}

interface Running {
  readonly life: Life;
  readonly controller: TestedController;
  readonly knowledge: Knowledge;
  checked: unknown;
  checkedListing: unknown;
  stoppedUntilMs: number;
}

export interface ArmedCrash {
  /** null = any call */
  readonly name: CallName | null;
  readonly phase: CrashPhase;
  countdown: number;
  readonly isPowerCut: boolean;
}

export interface SimWorldOptions {
  readonly seed: number;
  readonly settings: WorldSettings;
  readonly build: BuildController;
  /** undefined: nobody reads it */
  readonly trace: string[] | undefined;
}

/** One cluster with all that is round its controller. Nothing in it happens but at events of the clock. */
export class SimWorld {
  readonly clock = new VirtualClock(START_MS);
  readonly prng: Prng;
  readonly cloud: Cloud;
  readonly network: PodNetwork;
  readonly work: Work;
  readonly bus = new ControlBus(() => this.clock.nowMs);
  readonly faults = new ProviderFaults();
  broken: Broken | null = null;
  disk = new Disk();
  settings: WorldSettings;
  crash: ArmedCrash | null = null;
  /** what the operator has asked for: a controller that is started anew is asked again, as `down` does */
  isClosing = false;
  isStopping = false;
  readonly #options: SimWorldOptions;
  readonly spend: SpendLaws;
  readonly #port: PortLaws;
  readonly #state: StateLaws;
  readonly #answers = new AnswerBook();
  #running: Running[] = [];
  #newest: Running | null = null;
  #secret: ClusterSecret = secretOf(1);
  /** the machine's clock, set right or wrong */
  #wallOffsetMs = 0;
  #clockBackMs = Number.NEGATIVE_INFINITY;
  #lives = 0;
  #minted = 0;

  constructor(options: SimWorldOptions) {
    const say = (law: string, sentence: string) => this.say(law, sentence);
    const nowMs = () => this.clock.nowMs;
    this.#options = options;
    this.settings = options.settings;
    this.prng = createPrng(options.seed);
    this.cloud = new Cloud(this.clock, {
      clusterId: CLUSTER_ID,
      offers: offersOf(options.settings),
      freePrice: 0,
    });
    this.network = new PodNetwork(this.cloud, nowMs, say);
    this.work = new Work({
      cloud: this.cloud,
      prng: this.prng,
      wallMs: () => this.wallMs(),
      canRead: (pod) => this.network.canRead(pod),
      canReach: (pod) => this.network.canReach(pod),
      pools: options.settings.pools.map(({ name }) => name),
    });
    this.spend = new SpendLaws(this.cloud, nowMs, say);
    this.#port = new PortLaws(this.cloud, this.spend, say);
    this.#state = new StateLaws(this.cloud, say);
  }

  wallMs(): number {
    return this.clock.nowMs + this.#wallOffsetMs;
  }

  setClock(ms: number): void {
    this.#wallOffsetMs += ms;
    this.spend.isExact = false;
    if (ms < 0) this.#clockBackMs = this.clock.nowMs;
  }

  /** The first broken law is the one that is told. */
  say(law: string, sentence: string): void {
    this.note(() => `BROKEN ${law}: ${sentence}`);
    this.broken ??= { law, sentence, atMs: this.clock.nowMs - START_MS };
  }

  note(line: () => string): void {
    this.#options.trace?.push(`${((this.clock.nowMs - START_MS) / 1_000).toFixed(3)} ${line()}`);
  }

  /** the newest controller; null while none lives */
  get controller(): TestedController | null {
    return this.#newest?.life.isAlive === true ? this.#newest.controller : null;
  }

  startController(): void {
    if (this.#newest?.life.isAlive !== true) this.#launch();
  }

  /** A second one, on a disk of its own, while the first is stopped for a while or runs on. */
  startRival(disk: Disk, stopMs: number): void {
    if (this.#newest !== null && stopMs > 0) this.#stop(this.#newest, stopMs);
    this.spend.copied(this.disk, disk);
    this.disk = disk;
    this.#launch();
  }

  stopFor(ms: number): void {
    if (this.#newest !== null) this.#stop(this.#newest, ms);
  }

  /** Also a stopped process can be killed. */
  kill(isPowerCut: boolean): void {
    const newest = this.#newest;
    if (newest === null) return;
    this.note(() => `${newest.life.id} is killed${isPowerCut ? ' by a power cut' : ''}`);
    newest.life.kill();
    if (isPowerCut) newest.knowledge.disk.powerCut(this.prng);
  }

  eraseDisk(): void {
    this.disk.erase();
    this.spend.erased(this.disk);
  }

  /** No controller lives on. */
  endRun(): void {
    for (const { life } of this.#running) life.kill();
    this.#running = [];
  }

  rotateSecret(): void {
    this.#secret = secretOf(Object.keys(this.#secret.keys).length + 1);
  }

  resumeAll(): void {
    for (const { life } of this.#running) life.resume();
  }

  tellControllers(): void {
    for (const { controller } of this.#running) controller.onNews();
  }

  close(): void {
    this.isClosing = true;
    for (const { controller } of this.#running) controller.closeDoor();
  }

  endAll(drainMs: number): void {
    this.isStopping = true;
    for (const { controller } of this.#running) controller.endAll(drainMs);
  }

  /** After every event: what each controller holds now. */
  check(): void {
    for (const running of this.#running) {
      const view = running.controller.view();
      if (view !== null) this.spend.check(running.knowledge.disk, view.spentUsd);
      if (view === null || (view.registry === running.checked && view.listing === running.checkedListing))
        continue;
      running.checked = view.registry;
      running.checkedListing = view.listing;
      for (const { id } of view.registry.values()) if (id !== null) this.spend.held(id);
      this.#state.check(view);
    }
  }

  #stop(running: Running, ms: number): void {
    const { life } = running;
    this.note(() => `${life.id} is stopped for ${ms} ms`);
    running.stoppedUntilMs = this.clock.nowMs + ms;
    life.suspend();
    this.clock.later(ms, () => life.resume());
  }

  #launch(): void {
    this.#lives += 1;
    const id = `controller${this.#lives}`;
    const { disk, settings } = this;
    const life: Life = new Life({
      id,
      clock: this.clock,
      wallMs: () => this.wallMs(),
      isCrashAt: (name, phase) => this.#isCrashAt(name, phase, disk),
      onKilled: () => this.#onKilled(life),
    });
    const knowledge: Knowledge = {
      ...{ lifeId: id, disk, settings, listings: [], inherited: new Set(), told: new Map() },
      isAlive: () => life.isAlive,
      isAlone: () => !this.bus.hasRuled(id) || this.bus.wasAway(this.clock.nowMs - BUS_PATIENCE_MS),
      isInCharge: () => this.bus.wasInCharge(id, this.#chargedSinceMs(life)),
    };
    const box: { controller?: TestedController } = {};
    const controller = this.#options.build(
      this.#outside(life, knowledge, () => box.controller?.view() ?? null),
    );
    box.controller = controller;
    this.note(() => `${id} starts`);
    const running: Running = {
      life,
      controller,
      knowledge,
      checked: null,
      checkedListing: null,
      stoppedUntilMs: 0,
    };
    this.#newest = running;
    this.#running.push(running);
    controller.start().then(
      () => {
        for (const name of this.#port.heldBy(disk)) knowledge.inherited.add(name);
        if (this.isClosing) controller.closeDoor();
        if (this.isStopping) controller.endAll(0);
      },
      (cause: unknown) => {
        if (life.isAlive) this.say('start', `${id} cannot start: ${String(cause)}`);
      },
    );
  }

  #outside(life: Life, knowledge: Knowledge, view: () => ReturnType<TestedController['view']>): Outside {
    const { cloud, faults, prng } = this;
    const planLaws = new PlanLaws({
      clusterId: CLUSTER_ID,
      answers: this.#answers,
      listings: () => knowledge.listings,
      shownEver: this.#port.shownEver,
      endsTaken: this.cloud.endsTaken,
      isClockBack: () => this.clock.nowMs - this.#clockBackMs < CLOCK_BACK_MS,
      say: (law, sentence) => this.say(law, sentence),
    });
    const laws = this.#port;
    const note = (line: () => string) => this.note(line);
    return {
      controllerId: life.id,
      cluster: { clusterId: CLUSTER_ID },
      settings: this.settings,
      secret: this.#secret,
      clock: life.clock,
      disk: knowledge.disk.callsOf(life),
      provider: createSimProvider({ cloud, laws, faults, knowledge, life, prng, note }),
      prober: this.network.proberOf(life),
      control: this.bus.bucketOf(life),
      busConnected: () => this.bus.isUp,
      workers: { received: () => this.work.received(view(), this.bus.isUp), alive: () => this.work.alive() },
      mint: (pool) => this.#mint(pool),
      onDecided: (world, plan) => {
        if (life.isAlive) planLaws.judge(world, plan);
      },
      onDeposed: () => {
        this.note(() => `${life.id} is deposed and exits`);
        life.kill();
      },
      log:
        this.#options.trace === undefined
          ? null
          : (event, fields) => {
              if (life.isAlive) this.note(() => `${life.id} ${event} ${JSON.stringify(fields)}`);
            },
    };
  }

  #mint(pool: string): { key: string; name: string } {
    this.#minted += 1;
    // Chance decides the order of keys, as it does in production.
    const key = `${this.prng.int(0xffff).toString(16).padStart(4, '0')}${String(this.#minted).padStart(28, '0')}`;
    return { key, name: `c-${pool}-${this.#minted}` };
  }

  #isCrashAt(name: CallName, phase: CrashPhase, disk: Disk): boolean {
    const { crash } = this;
    if (crash === null || crash.phase !== phase || (crash.name !== null && crash.name !== name)) return false;
    crash.countdown -= 1;
    if (crash.countdown > 0) return false;
    this.crash = null;
    this.note(() => `killed ${phase} ${name}${crash.isPowerCut ? ' by a power cut' : ''}`);
    if (crash.isPowerCut) disk.powerCut(this.prng);
    return true;
  }

  #onKilled(life: Life): void {
    this.spend.killed();
    this.#running = this.#running.filter((one) => one.life !== life);
    if (this.#newest?.life === life) this.clock.later(RESTART_MS, () => this.startController());
  }

  #chargedSinceMs(life: Life): number {
    const { nowMs } = this.clock;
    const stoppedUntilMs = this.#running.find((one) => one.life === life)?.stoppedUntilMs ?? 0;
    return nowMs - stoppedUntilMs < CHARGE_WINDOW_MS ? nowMs - STOPPED_WINDOW_MS : nowMs - CHARGE_WINDOW_MS;
  }
}

function secretOf(keys: number): ClusterSecret {
  const ids = Array.from({ length: keys }, (_, n) => `k${n + 1}`);
  return {
    v: 1,
    clusterId: CLUSTER_ID,
    current: `k${keys}`,
    keys: Object.fromEntries(ids.map((id) => [id, createHmac('sha256', 'world').update(id).digest('hex')])),
  };
}
