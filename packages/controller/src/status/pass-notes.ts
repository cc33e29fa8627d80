import type { PodHealth } from '@pagefleet/contract';
import { type Caps, isFailureToBoot, type Plan } from '@pagefleet/core';
import type { Logger } from '@pagefleet/runtime';
import { AlarmBook } from './alarm-book.ts';
import { passLogLine } from './describe-plan.ts';

/** What passes leave behind for people: why each pod is where it is, which limit binds, what is wrong. */
export class PassNotes {
  readonly reasons = new Map<string, string>();
  /** what each pod said of itself last */
  readonly health = new Map<string, { readonly health: PodHealth; readonly atMs: number }>();
  readonly alarms: AlarmBook;
  caps: Caps | null = null;
  /** by pool, why its last boot failed, until one comes up: the pod itself is forgotten long before */
  readonly #failedBoots = new Map<string, string>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
    this.alarms = new AlarmBook(logger);
  }

  take(plan: Plan, canStore: boolean): void {
    const line = passLogLine(plan);
    if (line !== null) this.#logger.info(line, 'pass');
    this.caps = plan.caps;
    for (const { podKey, reason, from, to } of plan.transitions) {
      if (from !== to) this.reasons.set(podKey, reason);
    }
    this.#takeBoots(plan);
    for (const { pod, reason } of plan.adoptions) this.reasons.set(pod.key, reason);
    for (const podKey of plan.forget) {
      this.reasons.delete(podKey);
      this.health.delete(podKey);
    }
    this.alarms.set('fleet', plan.alarms, plan.nowMs);
    const disk = canStore ? [] : ['the journal cannot be written: nothing is rented'];
    this.alarms.set('disk', disk, plan.nowMs);
  }

  #takeBoots(plan: Plan): void {
    for (const { pool, reason, from, to, event } of plan.transitions) {
      if (from !== 'booting') continue;
      if (to === 'serving') this.#failedBoots.delete(pool);
      else if ('why' in event && isFailureToBoot(event.why)) this.#failedBoots.set(pool, reason);
    }
    const boots = [...this.#failedBoots].map(
      ([pool, why]) => `the last boot of pool "${pool}" failed: ${why}`,
    );
    this.alarms.set('boot', boots, plan.nowMs);
  }
}
