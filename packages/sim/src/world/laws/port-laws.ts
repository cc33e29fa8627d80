import type { ListedPod, RentRequest } from '@pagefleet/providers';
import type { Cloud, CloudPod } from '../cloud.ts';
import type { Disk } from '../disk.ts';
import type { WorldSettings } from '../outside.ts';
import type { SpendLaws } from './spend-laws.ts';

export interface SeenListing {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly entries: readonly ListedPod[];
}

/** One call that may cost money, from the moment it leaves a controller. */
interface PaidCall {
  readonly name: string;
  readonly key: string;
  readonly pool: string;
  readonly lifeId: string;
  readonly quote: number;
  /** it has not reached the provider yet */
  isOnItsWay: boolean;
  /** whoever asked can still get it; a free provider's pod is made by the one who asks */
  readonly isMeant: () => boolean;
}

/** What one life of a controller can know of the account: what it was told, and what its journal said when it began. */
export interface Knowledge {
  readonly lifeId: string;
  readonly isAlive: () => boolean;
  readonly disk: Disk;
  readonly settings: WorldSettings;
  readonly listings: SeenListing[];
  /** names of paid calls that the journal held at the start */
  readonly inherited: Set<string>;
  /** price by id, as told last */
  readonly told: Map<string, number>;
  /** who was in charge at the last moment that counts */
  readonly isInCharge: () => boolean;
  /** nobody could say who that is, or it has not got so far as to ask */
  readonly isAlone: () => boolean;
}

/** A look that an action takes for itself may come between two of the round. */
const LISTINGS_KEPT = 5;
const SLACK_USD = 1e-6;

/**
 * What holds for everything that crosses the provider's port, judged by what the account really holds: L1, one rent for
 * one intent, intent before money, one controller in charge. A controller cannot count what it cannot know: pods that no
 * listing has shown it and that its journal has no intent of are left out.
 */
export class PortLaws {
  /** ids that some complete listing has shown to some controller */
  readonly shownEver = new Set<string>();
  readonly #cloud: Cloud;
  readonly #spend: SpendLaws;
  readonly #say: (law: string, sentence: string) => void;
  readonly #calls = new Map<string, PaidCall>();
  readonly #keys = new Set<string>();

  constructor(cloud: Cloud, spend: SpendLaws, say: (law: string, sentence: string) => void) {
    this.#cloud = cloud;
    this.#spend = spend;
    this.#say = say;
  }

  /** the paid calls so far that a journal knows of */
  heldBy(disk: Disk): Set<string> {
    return new Set([...this.#calls.keys()].filter((name) => disk.holds(name)));
  }

  /** The call leaves the controller. What is returned is to be called when it has reached the provider. */
  onRent(request: RentRequest, by: Knowledge): () => void {
    const { name, podKey, pool } = request.mark;
    const quote = request.machine?.offer.priceUsdPerHour ?? 0;
    const isMeant = () => !by.settings.isFree || by.isAlive();
    const call: PaidCall = { name, key: podKey, pool, lifeId: by.lifeId, quote, isOnItsWay: true, isMeant };
    if (this.#calls.has(name) || this.#keys.has(podKey))
      this.#say('one intent, one rent', `${name} was paid for twice`);
    if (!by.disk.holds(name)) this.#say('intent before money', `${name} is not on the disk that pays for it`);
    if (!by.isInCharge())
      this.#say('one in charge', `${by.lifeId} rents ${name} while another one is in charge`);
    if (by.listings.length === 0) this.#say('L5', `${name} is rented before any complete listing`);
    this.#cap(call, by);
    this.#money(call, by);
    this.#spend.checkDay(name, by.disk, by.settings);
    this.#calls.set(name, call);
    this.#keys.add(podKey);
    return () => {
      call.isOnItsWay = false;
    };
  }

  onRented(pod: ListedPod, by: Knowledge): void {
    by.told.set(pod.id, pod.priceUsdPerHour ?? 0);
    this.#spend.told(pod.id, by.disk, null);
  }

  onListed(listing: SeenListing, by: Knowledge): void {
    by.listings.push(listing);
    if (by.listings.length > LISTINGS_KEPT) by.listings.shift();
    for (const { id, priceUsdPerHour } of listing.entries) {
      this.shownEver.add(id);
      by.told.set(id, priceUsdPerHour ?? 0);
      this.#spend.told(id, by.disk, listing.startedAtMs);
    }
  }

  onTerminate(id: string, by: Knowledge): void {
    const pod = this.#cloud.pods.get(id);
    if (pod === undefined)
      this.#say('L5', `the end of ${id || 'a pod without an id'} was asked for, which never was`);
    else if (!this.#isOurs(pod)) this.#say('L8', `the end of ${id} was asked for, which is not ours`);
    if (!by.isInCharge() && !by.isAlone())
      this.#say('one in charge', `${by.lifeId} ends ${id} while another one is in charge`);
  }

  #cap({ name, pool }: PaidCall, by: Knowledge): void {
    const cap = by.settings.pools.find((one) => one.name === pool)?.maxPods ?? 0;
    const known = this.#known(by).filter((one) => one.pool === pool);
    if (known.length + 1 > cap) {
      const what = known.map((one) => one.what).join(', ') || 'none';
      this.#say('L1', `${name} is rented beside ${known.length} (${what}) under a cap of ${cap}`);
    }
  }

  #money({ name, quote }: PaidCall, by: Knowledge): void {
    const { isFree, usdPerHour } = by.settings;
    if (isFree) return;
    const usd = this.#known(by).reduce((sum, one) => sum + one.usd, quote);
    if (usd > usdPerHour + SLACK_USD)
      this.#say('L1', `${name} brings $${usd}/h under a limit of $${usdPerHour}/h`);
  }

  /** What exists, or may come to exist, and a controller with this knowledge has to count. */
  #known(by: Knowledge): { pool: string; what: string; usd: number }[] {
    const counted: { pool: string; what: string; usd: number }[] = [];
    const alive = this.#cloud.ours();
    const bought = new Set<CloudPod>();
    for (const call of this.#calls.values()) {
      if (call.lifeId !== by.lifeId && !by.inherited.has(call.name)) continue;
      const pods = alive.filter((pod) => pod.mark?.podKey === call.key);
      // Of two pods for one call, the second is known by a listing alone.
      if (pods.some((pod) => by.told.has(pod.id))) continue;
      for (const pod of pods) bought.add(pod);
      const mayCome = (call.isOnItsWay && call.isMeant()) || this.#cloud.expected.has(call.name);
      if (pods.length > 0 || mayCome) counted.push({ pool: call.pool, what: call.name, usd: call.quote });
    }
    for (const pod of alive) {
      if (bought.has(pod) || !by.told.has(pod.id)) continue;
      counted.push({ pool: pod.mark?.pool ?? '', what: pod.id, usd: by.told.get(pod.id) ?? 0 });
    }
    return counted;
  }

  #isOurs(pod: CloudPod): boolean {
    return pod.mark?.clusterId === this.#cloud.clusterId;
  }
}
