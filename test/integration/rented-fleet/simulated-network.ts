import type { ProbeOutcome } from '@pagefleet/core';
import { type FakeRunpod, observePod } from '@pagefleet/sim/fake-runpod';

interface Target {
  readonly url: string;
  readonly token: string;
}
interface Answer {
  readonly outcome: ProbeOutcome;
  readonly health: null;
}

/**
 * Simulated: the way to the pods, and the prober on it. No socket is opened; a pod answers as soon as the fake's table says
 * that something listens in it, and proves itself by the token that it was told at its create.
 */
export class SimulatedNetwork {
  isCut = false;
  probes = 0;
  readonly #fake: FakeRunpod;
  /** token → the fake's pod */
  readonly #tokens = new Map<string, string>();
  #known = 0;

  constructor(fake: FakeRunpod) {
    this.#fake = fake;
  }

  isListening(id: string): boolean {
    const pod = this.#fake.pod(id);
    return !this.isCut && pod !== undefined && observePod(pod, this.#fake.nowMs()).listening;
  }

  readonly prober = {
    probe: (target: Target): Promise<Answer> => this.#ask(target, 'ready'),
    trial: (target: Target): Promise<Answer> => this.#ask(target, 'page-read'),
    close: () => Promise.resolve(),
  };

  async #ask({ token }: Target, outcome: ProbeOutcome): Promise<Answer> {
    this.probes += 1;
    this.#learn();
    const id = this.#tokens.get(token);
    const isThere = id !== undefined && this.isListening(id);
    return { outcome: isThere ? outcome : 'refused', health: null };
  }

  #learn(): void {
    const pods = this.#fake.pods();
    for (const pod of pods.slice(this.#known))
      for (const value of Object.values(pod.request.env)) this.#tokens.set(value, pod.id);
    this.#known = pods.length;
  }
}
