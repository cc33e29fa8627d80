import type { ListedPod } from '@pagefleet/providers';

/** A pod as the controller's answer to `down` names it: one that was asked for and not found yet has no id. */
interface ToldPod {
  readonly id: string;
  readonly state: string;
}

/**
 * Rents whose outcome the controller does not know: asked for, and neither refused nor found. The account may still carry
 * them out, so that no listing proves them away for minutes.
 */
export class UnresolvedRents {
  #pods: readonly ToldPod[] = [];

  /** one line of the controller's answer; the newest counts */
  hear({ type, pods }: { readonly type?: unknown; readonly pods?: unknown }): void {
    if (type === 'done') this.#pods = [];
    if (Array.isArray(pods)) this.#pods = pods as ToldPod[];
  }

  /** those that the account does not show either */
  missingIn(listed: readonly ListedPod[]): string[] {
    const names = this.#pods.filter(({ state }) => state === 'renting').map(({ id }) => id);
    return names.filter((name) => !listed.some((pod) => pod.name === name));
  }

  /** every pod that was there when the controller was last heard */
  all(): string[] {
    return this.#pods.map(({ id, state }) => `${id} (${state})`);
  }
}
