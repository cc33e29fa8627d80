import {
  enterRegistry,
  isExisting,
  type Pod,
  type PodEvent,
  type Registry,
  reloadRegistry,
  transition,
} from '@pagefleet/core';
import type { KeyRef } from './journal/entries.ts';

export type ChangeOutcome =
  | { readonly kind: 'changed'; readonly before: Pod; readonly pod: Pod }
  /** the pod is at another revision than the change was decided on, or gone */
  | { readonly kind: 'moved' }
  | { readonly kind: 'illegal'; readonly from: Pod['state']; readonly event: PodEvent['kind'] };

export interface HeldPod {
  readonly pod: Pod;
  readonly keyRef: KeyRef;
}

/**
 * Every pod of this cluster, by key. Pods get in through `enter` alone, which refuses what is held already; they
 * change through `change` alone. Owned by the controller's mailbox.
 */
export class PodRegistry {
  #pods: Registry = new Map();
  readonly #keyRefs = new Map<string, KeyRef>();

  get pods(): Registry {
    return this.#pods;
  }

  held(): HeldPod[] {
    return [...this.#pods.values()].map((pod) => ({ pod, keyRef: this.keyRef(pod.key) }));
  }

  /** The pods of an earlier life, as the journal has them; once, into an empty registry. */
  restore(held: readonly HeldPod[], nowMs: number): void {
    this.#pods = reloadRegistry(
      held.map(({ pod }) => pod),
      nowMs,
    );
    for (const { pod, keyRef } of held) if (this.#pods.has(pod.key)) this.#keyRefs.set(pod.key, keyRef);
  }

  /** `isNew: false`: the pod is held already and at most its address was refreshed */
  enter(held: HeldPod, nowMs: number): { isNew: boolean } {
    const entered = enterRegistry(this.#pods, held.pod, nowMs);
    this.#pods = entered.registry;
    if (entered.isNew) this.#keyRefs.set(held.pod.key, held.keyRef);
    return { isNew: entered.isNew };
  }

  /** `revision: null` = whatever it is now: for outcomes of the paid call, which stay true */
  change(podKey: string, revision: number | null, step: { event: PodEvent; nowMs: number }): ChangeOutcome {
    const before = this.#pods.get(podKey);
    if (before === undefined || (revision !== null && before.revision !== revision)) return { kind: 'moved' };
    const result = transition(before, step.event, step.nowMs);
    if (!result.legal) return { kind: 'illegal', from: result.from, event: result.event };
    this.#pods = new Map(this.#pods).set(podKey, result.pod);
    return { kind: 'changed', before, pod: result.pod };
  }

  /** A key that a living pod holds by now is not forgotten. */
  forget(podKey: string): void {
    if (this.#pods.get(podKey)?.state !== 'terminated') return;
    const pods = new Map(this.#pods);
    pods.delete(podKey);
    this.#pods = pods;
    this.#keyRefs.delete(podKey);
  }

  get(podKey: string): Pod | undefined {
    return this.#pods.get(podKey);
  }

  byId(id: string): Pod | undefined {
    return [...this.#pods.values()].find((pod) => pod.id === id && isExisting(pod));
  }

  keyRef(podKey: string): KeyRef {
    const keyRef = this.#keyRefs.get(podKey);
    if (keyRef === undefined) throw new Error(`no key reference of pod key ${podKey}`);
    return keyRef;
  }
}
