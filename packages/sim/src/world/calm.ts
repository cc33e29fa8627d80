import { isExisting } from '@pagefleet/core';
import { POOL_TIMES } from './settings.ts';
import type { SimWorld } from './sim-world.ts';

/** Longer than any wait that what happened before can have earned: 15 min for a pod never seen, and as much for one of no pool. */
const LONGEST_MS = 3_000_000;
const LOOK_MS = 5_000;
/** What is over and asked to end is gone within a minute. */
const SLACK_MS = 60_000;
/** An end that was accepted and ignored is asked for again after at most that. */
const ASK_AGAIN_MS = 300_000;
const DOWN_DRAIN_MS = 10_000;

export type Calm = 'idle' | 'down';

/** Everything works again. */
export function heal(world: SimWorld): void {
  world.note(() => '* all is well again');
  world.crash = null;
  world.faults.clear();
  world.cloud.isApiUp = true;
  world.network.isUp = true;
  world.bus.isUp = true;
  world.disk.isFull = false;
  world.work.isSilent = false;
  world.work.isSecondSilent = false;
  for (const pod of world.cloud.living()) {
    pod.refusesUntilMs = 0;
    pod.refusesPagesUntilMs = 0;
    pod.ignoresEndUntilMs = 0;
    pod.isHiddenOnce = false;
  }
  world.resumeAll();
  world.startController();
}

/**
 * Nobody wants a pod any more: what serves is ended once it has been idle for its time, within a minute; in the end
 * nothing bills and nothing is held.
 */
export class CalmWatch {
  readonly #world: SimWorld;
  readonly #calm: Calm;
  readonly #untilMs: number;
  /** by pool and pod id, when the controller first held it for serving: the pool keeps one pod for its time from each */
  readonly #served = new Map<string, Map<string, number>>();
  readonly #askedToEnd = new Map<string, number>();

  constructor(world: SimWorld, calm: Calm) {
    this.#world = world;
    this.#calm = calm;
    this.#untilMs = world.clock.nowMs + LONGEST_MS;
    for (const pool of world.work.demand.keys()) world.work.demand.set(pool, 0);
    if (calm === 'down') {
      world.close();
      world.endAll(DOWN_DRAIN_MS);
    } else if (world.settings.pools.some(({ minPods }) => minPods > 0)) {
      const pools = world.settings.pools.map((pool) => ({ ...pool, minPods: 0 }));
      world.settings = { ...world.settings, pools };
      world.kill(false);
    }
    world.tellControllers();
  }

  /** When to look again; null: it is over. */
  next(): number | null {
    const { cloud, clock, controller } = this.#world;
    const held = [...(controller?.view()?.registry.values() ?? [])].filter(isExisting);
    const living = cloud.ours();
    const view = controller?.view() ?? null;
    if (view !== null && living.length === 0 && held.length === 0 && cloud.expected.size === 0) {
      this.#world.spend.checkAtRest(this.#world.disk, view.spentUsd);
      return null;
    }
    this.#look();
    this.#judge();
    if (clock.nowMs >= this.#untilMs) {
      const what = [
        ...living.map(({ id }) => `${id} bills`),
        ...held.map((pod) => `${pod.id ?? pod.name} is ${pod.state}`),
      ];
      this.#say(`after all that time: ${what.join(', ')}`);
    }
    return this.#world.broken === null ? clock.nowMs + LOOK_MS : null;
  }

  #look(): void {
    const { controller, clock } = this.#world;
    for (const pod of controller?.view()?.registry.values() ?? []) {
      if (pod.id === null) continue;
      const served = this.#served.get(pod.pool) ?? new Map<string, number>();
      this.#served.set(pod.pool, served);
      if (pod.state === 'serving' && !served.has(pod.id)) served.set(pod.id, clock.nowMs);
      if (pod.state === 'terminating' && !this.#askedToEnd.has(pod.id))
        this.#askedToEnd.set(pod.id, clock.nowMs);
    }
  }

  /** Pods of a pool stand in for each other, so they are counted, not named. */
  #judge(): void {
    const { clock, cloud } = this.#world;
    const keepMs = this.#calm === 'down' ? DOWN_DRAIN_MS : POOL_TIMES.idleTimeoutMs;
    for (const [pool, served] of this.#served) {
      const living = [...served.keys()].filter((id) => cloud.pods.get(id)?.endedAtMs === null);
      const entitled = [...served.values()].filter((atMs) => clock.nowMs <= atMs + keepMs + SLACK_MS).length;
      if (living.length > entitled)
        this.#say(`${living.join(', ')} of ${pool} bill, ${entitled} of them within a minute of their time`);
    }
    for (const [id, atMs] of this.#askedToEnd) {
      const isLate = clock.nowMs > atMs + ASK_AGAIN_MS + SLACK_MS;
      if (isLate && cloud.pods.get(id)?.endedAtMs === null)
        this.#say(`${id} was asked to end and still bills`);
    }
  }

  #say(sentence: string): void {
    this.#world.say('nothing bills that nobody wants', sentence);
  }
}
