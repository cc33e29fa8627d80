import { type CompleteListing, type ListedPod, recordListing } from '@pagefleet/core';
import type { ListedPod as AccountPod, Provider } from '@pagefleet/providers';
import type { Logger } from '@pagefleet/runtime';
import type { Clock } from '../clock.ts';
import { type Facts, listedPodOf } from '../world.ts';

interface KeeperOptions {
  readonly provider: Provider;
  readonly facts: Facts;
  readonly logger: Logger;
  readonly clock: Clock;
  /** least pause between two listings: one listing watches all boots */
  readonly gapMs: number;
  readonly onListing: (outcome: 'complete' | 'failed') => void;
}

/** The account's listing, one at a time and at its own pace, never on a pass's time. */
export class ListingKeeper {
  readonly #options: KeeperOptions;
  #cancel: (() => void) | null = null;
  #dueAtMs = Number.POSITIVE_INFINITY;
  #running = false;
  #endedAtMs = 0;
  #stopped = false;
  /** marks by pod key, as the account shows them: what a pod's token is derived from */
  readonly marks = new Map<string, AccountPod['mark'] & object>();

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  get gapMs(): number {
    return this.#options.gapMs;
  }

  /** A listing that begins at `atMs`, or as soon after it as the pace allows. An earlier wish stays. */
  want(atMs: number): void {
    if (this.#stopped || atMs >= this.#dueAtMs) return;
    this.#dueAtMs = atMs;
    this.#arm();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  #arm(): void {
    if (this.#running || this.#stopped || this.#dueAtMs === Number.POSITIVE_INFINITY) return;
    this.#cancel?.();
    const { clock, gapMs } = this.#options;
    const waitMs = Math.max(this.#dueAtMs, this.#endedAtMs + gapMs) - clock.nowMs();
    this.#cancel = clock.setTimer(() => void this.#list(), Math.min(Math.max(0, waitMs), 3_600_000));
  }

  /** The provider keeps its catalogue for minutes, so that it may be asked at each listing; an old one is better than none. */
  async #refreshOffers(): Promise<void> {
    const { provider, facts, logger } = this.#options;
    try {
      facts.offers = await provider.offers();
    } catch (err) {
      logger.warn({ err }, 'offers_failed');
    }
  }

  async #list(): Promise<void> {
    const { provider, facts, logger, onListing } = this.#options;
    const { nowMs } = this.#options.clock;
    this.#running = true;
    this.#dueAtMs = Number.POSITIVE_INFINITY;
    const startedAtMs = nowMs();
    let outcome: 'complete' | 'failed' = 'failed';
    try {
      const entries = await provider.list();
      const pods = entries.map((entry): ListedPod => listedPodOf(entry));
      const listing: CompleteListing = { startedAtMs, endedAtMs: nowMs(), pods };
      facts.listing = recordListing(facts.listing, listing);
      facts.providerAnsweredMs = listing.endedAtMs;
      void this.#refreshOffers();
      for (const { mark } of entries) if (mark !== null) this.marks.set(mark.podKey, mark);
      outcome = 'complete';
    } catch (err) {
      logger.warn({ err }, 'listing_failed');
    } finally {
      this.#running = false;
      this.#endedAtMs = nowMs();
    }
    if (this.#stopped) return;
    onListing(outcome);
    this.#arm();
  }
}
