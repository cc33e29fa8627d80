import { isExisting, type Pod } from '@pagefleet/core';
import type { Cloud } from '../cloud.ts';
import type { ControllerView } from '../outside.ts';

const SLACK_USD = 1e-6;

/** What holds for what a controller holds, after every event: L7, L8, L12. */
export class StateLaws {
  readonly #cloud: Cloud;
  readonly #say: (law: string, sentence: string) => void;

  constructor(cloud: Cloud, say: (law: string, sentence: string) => void) {
    this.#cloud = cloud;
    this.#say = say;
  }

  check(view: ControllerView): void {
    const pods = [...view.registry.values()].filter(isExisting);
    this.#identity(pods);
    this.#tokens(pods, view);
    this.#money(pods, view);
  }

  /** L8: a pod is held once, and only ours are. */
  #identity(pods: readonly Pod[]): void {
    const ids = pods.flatMap((pod) => (pod.id === null ? [] : [pod.id]));
    if (new Set(ids).size !== ids.length) this.#say('L8', `a pod is held twice: ${ids.join(', ')}`);
    for (const id of ids) {
      const real = this.#cloud.pods.get(id);
      if (real?.mark?.clusterId !== this.#cloud.clusterId) this.#say('L8', `${id} is held and is not ours`);
    }
  }

  /** L7: the token a pod is asked with is the one it was launched with. */
  #tokens(pods: readonly Pod[], view: ControllerView): void {
    for (const pod of pods) {
      const real = pod.id === null ? undefined : this.#cloud.pods.get(pod.id);
      if (real !== undefined && view.tokenOf(pod) !== real.token)
        this.#say('L7', `${pod.id} is spoken to with a token that is not its own`);
    }
  }

  /**
   * L12: what is shown as live is every pod held, from the moment it is asked for, and every other one of ours that one of the two
   * newest listings shows.
   */
  #money(pods: readonly Pod[], view: ControllerView): void {
    const held = new Set(pods.map((pod) => pod.id));
    const keys = new Set(pods.filter((pod) => pod.id === null).map((pod) => pod.key));
    const { newest, previous } = view.listing;
    const shown = new Set(newest?.pods.map(({ id }) => id));
    const once = (previous?.pods ?? []).filter(({ id }) => !shown.has(id));
    const others = [...(newest?.pods ?? []), ...once].filter(({ id, mark }) => {
      if (mark === null || mark.clusterId !== this.#cloud.clusterId || held.has(id)) return false;
      // The first entry of a key is the pod that was asked for under it; a second one is a second pod.
      return !keys.delete(mark.podKey);
    });
    const usd = [...pods, ...others].reduce((sum, pod) => sum + (pod.priceUsdPerHour ?? 0), 0);
    if (Math.abs(usd - view.liveUsdPerHour) > SLACK_USD)
      this.#say('L12', `$${view.liveUsdPerHour}/h are shown for pods that come to $${usd}/h`);
  }
}
