import type { FleetStatus } from '@pagefleet/contract';
import type { Logger } from '@pagefleet/runtime';

type Alarm = FleetStatus['alarms'][number];

/** What is wrong and needs a person's eye: kept while it lasts, with the time it began, and logged once. */
export class AlarmBook {
  readonly #alarms = new Map<string, Alarm>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** All alarms of one kind that stand now; those of the kind that are not named are over. */
  set(code: string, messages: readonly string[], nowMs: number): void {
    const standing = new Set(messages.map((message) => `${code}: ${message}`));
    for (const [key, alarm] of this.#alarms) {
      if (alarm.code !== code || standing.has(key)) continue;
      this.#alarms.delete(key);
      this.#logger.info({ code, message: alarm.message }, 'alarm_over');
    }
    for (const message of messages) {
      const key = `${code}: ${message}`;
      if (this.#alarms.has(key)) continue;
      this.#alarms.set(key, { code, message, sinceMs: nowMs });
      this.#logger.error({ code, message }, 'alarm');
    }
  }

  all(): Alarm[] {
    return [...this.#alarms.values()];
  }
}
