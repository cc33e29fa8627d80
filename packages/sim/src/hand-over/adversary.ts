import {
  arrivePut,
  deliverMessage,
  type Happened,
  loseStore,
  putAgain,
  readSlice,
  replayReport,
  syncStore,
  timeOutPut,
} from './bus-events.ts';
import type { ClusterModel } from './cluster-model.ts';
import type { Prng } from './prng.ts';
import {
  allGoesWell,
  finishPage,
  killPrimary,
  killWorker,
  offerPages,
  passController,
  passTime,
  publishRoster,
  replaceWorker,
  report,
  restartController,
  setPodAside,
  startListening,
  startPrimary,
  stopOrContinue,
  takeOver,
} from './process-events.ts';

type Event = (cluster: ClusterModel, prng: Prng) => Happened;

/** Everything that may happen, with its weight. */
const EVENTS: ReadonlyArray<readonly [number, Event]> = [
  [40, deliverMessage],
  [14, arrivePut],
  [12, passController],
  [10, offerPages],
  [12, finishPage],
  [8, report],
  [3, publishRoster],
  [2, startListening],
  [2, putAgain],
  [3, replayReport],
  [2, readSlice],
  [6, timeOutPut],
  [2, setPodAside],
  [1.5, killWorker],
  [1.5, replaceWorker],
  [1, stopOrContinue],
  [0.6, restartController],
  [0.8, takeOver],
  [0.5, killPrimary],
  [1.5, startPrimary],
  [0.7, syncStore],
  [0.3, loseStore],
  [4, passTime],
  [3, allGoesWell],
];
/** A run has its own taste: some things happen often in it, some never. Together the seeds reach what no one mix would. */
const TASTES = [0, 0.3, 1, 1, 3];
/** … but messages always move */
const OFTEN = 8;

export class Adversary {
  readonly #prng: Prng;
  readonly #events: ReadonlyArray<readonly [number, Event]>;
  readonly #totalWeight: number;

  constructor(prng: Prng) {
    this.#prng = prng;
    this.#events = EVENTS.map(([weight, event]) => [
      weight >= OFTEN ? weight : weight * (prng.pick(TASTES) ?? 1),
      event,
    ]);
    this.#totalWeight = this.#events.reduce((sum, [weight]) => sum + weight, 0);
  }

  /** Lets one thing happen, or tries to. */
  act(cluster: ClusterModel): Happened {
    cluster.nowMs += this.#prng.int(60);
    let left = this.#prng.next() * this.#totalWeight;
    for (const [weight, event] of this.#events) {
      left -= weight;
      if (left < 0) return event(cluster, this.#prng);
    }
    return undefined;
  }
}
