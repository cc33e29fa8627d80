import { createHmac } from 'node:crypto';
import type { ProbeOutcome } from '@pagefleet/core';
import type { Cloud, CloudPod } from './cloud.ts';
import type { Life } from './life.ts';
import type { Outside } from './outside.ts';

const ANSWER_MS = 40;

/** The way from the controller's machine to its pods. */
export class PodNetwork {
  isUp = true;
  readonly #cloud: Cloud;
  readonly #nowMs: () => number;
  readonly #say: (law: string, sentence: string) => void;

  constructor(cloud: Cloud, nowMs: () => number, say: (law: string, sentence: string) => void) {
    this.#cloud = cloud;
    this.#nowMs = nowMs;
    this.#say = say;
  }

  canReach(pod: CloudPod): boolean {
    const nowMs = this.#nowMs();
    const isListening = nowMs >= pod.readyAtMs && nowMs >= pod.refusesUntilMs && !pod.hasExited;
    return this.isUp && isListening && !pod.isHung && pod.endedAtMs === null;
  }

  canRead(pod: CloudPod): boolean {
    return this.canReach(pod) && this.#nowMs() >= pod.refusesPagesUntilMs;
  }

  proberOf(life: Life): Outside['prober'] {
    const ask = (url: string, token: string, timeoutMs: number, isTrial: boolean) => {
      const isSilent = !this.isUp || this.#at(url)?.isHung === true;
      const times = { sendMs: ANSWER_MS / 2, backMs: isSilent ? timeoutMs : ANSWER_MS / 2 };
      const effect = () => ({ outcome: this.#answer(url, token, isTrial), health: null });
      return life.call('probe', effect, times);
    };
    return {
      probe: ({ url, token }, { timeoutMs }) => ask(url, token, timeoutMs, false),
      trial: ({ url, token }, timeoutMs) => ask(url, token, timeoutMs, true),
      close: () => Promise.resolve(),
    };
  }

  #answer(url: string, token: string, isTrial: boolean): ProbeOutcome {
    this.#token(url, token);
    const pod = this.#at(url);
    if (!this.isUp || pod?.isHung === true) return 'timeout';
    if (pod === undefined || !this.canReach(pod)) return 'refused';
    // Over TLS with a key made from the token, a stranger cannot even read what was sent.
    if (pod.token !== token) return 'unproven';
    if (!isTrial) return 'ready';
    return this.canRead(pod) ? 'page-read' : 'page-refused';
  }

  /** L7: whoever is asked there was, or is, launched with this token. */
  #token(url: string, token: string): void {
    const known = this.#cloud.tokensAt.get(url);
    if (known?.has(token) === false) this.#say('L7', `${url} is asked with a token of nobody there`);
  }

  #at(url: string): CloudPod | undefined {
    return this.#cloud.living().find((pod) => pod.url === url);
  }
}

/** for pods that somebody else launched */
export function strangersToken(name: string): string {
  return createHmac('sha256', 'stranger').update(name).digest('hex');
}
