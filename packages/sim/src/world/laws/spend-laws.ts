import type { Cloud, CloudPod } from '../cloud.ts';
import type { Disk } from '../disk.ts';
import type { WorldSettings } from '../outside.ts';

const MS_PER_HOUR = 3_600_000;
/** of the ledger's whole millionths, over all lines of a run */
const SLACK_USD = 0.001;
/** A pod's end takes that long after the call that asks for it. */
const END_MS = 1_000;
/** What runs on between two passes, before it counts against the day. */
const DAY_SLACK_MS = 60_000;

/** Until what a listing shows is on the disk. */
const NOTE_MS = 1_000;

/** When a complete listing showed a pod last, when that was told, and the one before that is on the disk by then. */
interface Shown {
  readonly shownMs: number;
  readonly toldMs: number;
  readonly beforeMs: number;
}

/**
 * L12 and the $/day limit, against the account's own bill. A ledger is a disk's: what was told to controllers that kept it
 * there counts in it, and goes with it.
 */
export class SpendLaws {
  /** false: prices, clocks or ledgers were changed under the controller, so that no sum is expected to agree */
  isExact = true;
  /** false: an end may have been asked for and not been noted, or been withheld */
  isUndisturbed = true;
  readonly #cloud: Cloud;
  readonly #nowMs: () => number;
  readonly #say: (law: string, sentence: string) => void;
  readonly #counted = new Map<Disk, Set<CloudPod>>();
  readonly #spentUsd = new Map<Disk, number>();
  readonly #held = new Set<string>();
  readonly #shown = new Map<string, Shown>();

  constructor(cloud: Cloud, nowMs: () => number, say: (law: string, sentence: string) => void) {
    this.#cloud = cloud;
    this.#nowMs = nowMs;
    this.#say = say;
  }

  /** A controller that keeps its ledger there was told of a pod of ours. */
  told(id: string, disk: Disk, listedMs: number | null): void {
    const pod = this.#cloud.pods.get(id);
    if (pod?.mark?.clusterId !== this.#cloud.clusterId) return;
    this.#counted.set(disk, (this.#counted.get(disk) ?? new Set()).add(pod));
    if (listedMs !== null && !pod.hasExited) this.#show(id, listedMs);
  }

  /** A controller died: what it was told last may not be on its disk. */
  killed(): void {
    this.isUndisturbed = false;
    for (const [id, { toldMs, beforeMs }] of this.#shown)
      if (this.#nowMs() - toldMs < NOTE_MS) this.#shown.set(id, { shownMs: beforeMs, beforeMs, toldMs: 0 });
  }

  erased(disk: Disk): void {
    this.isExact = false;
    this.#counted.delete(disk);
    this.#spentUsd.delete(disk);
  }

  copied(from: Disk, to: Disk): void {
    this.isExact = false;
    this.#counted.set(to, new Set(this.#counted.get(from)));
  }

  /** A controller holds it: from then on it is counted, from its creation. */
  held(id: string): void {
    this.#held.add(id);
  }

  /** Spend never falls, whoever counts it. */
  check(disk: Disk, spentUsd: number): void {
    const before = this.#spentUsd.get(disk) ?? 0;
    if (spentUsd < before - 1e-9) this.#say('L12', `what was spent fell from $${before} to $${spentUsd}`);
    this.#spentUsd.set(disk, Math.max(before, spentUsd));
  }

  /** At the moment of a paid call. */
  checkDay(name: string, disk: Disk, { isFree, usdPerDay }: WorldSettings): void {
    if (isFree || !this.isExact) return;
    const untilMs = this.#nowMs() - DAY_SLACK_MS;
    const usd = sum([...(this.#counted.get(disk) ?? [])].map((pod) => billUsd(pod, untilMs)));
    if (usd > usdPerDay + SLACK_USD)
      this.#say('L12', `${name} is rented with $${usd} spent of $${usdPerDay} a day`);
  }

  /**
   * When all is over: what was counted lies between what listings have shown and what the account bills. A pod that had
   * vanished when its end was asked for, and accepted, may be counted up to then.
   */
  checkAtRest(disk: Disk, spentUsd: number): void {
    if (!this.isExact) return;
    const pods = [...(this.#counted.get(disk) ?? [])];
    const most = sum(pods.map((pod) => upToUsd(pod, Math.max(pod.endedAtMs ?? 0, pod.askedToEndMs ?? 0))));
    const held = pods.filter(({ id }) => this.#held.has(id));
    const least = sum(held.map((pod) => billUsd(pod, this.#surelyMs(pod))));
    if (spentUsd > most + SLACK_USD) this.#say('L12', `$${spentUsd} are counted of a bill of $${most}`);
    if (spentUsd < least - SLACK_USD)
      this.#say('L12', `$${spentUsd} are counted of a bill of $${most}, of which $${least} were seen`);
  }

  /**
   * To the end for a pod that we ended; for one that vanished, was missing from a listing or stopped, to the last listing
   * that showed it running: the rest is the provider's records' to say.
   */
  #surelyMs(pod: CloudPod): number {
    const { askedToEndMs, endedAtMs } = pod;
    const isOurEnd = askedToEndMs !== null && endedAtMs !== null && askedToEndMs <= endedAtMs;
    if (this.isUndisturbed && isOurEnd && !pod.hasExited && !pod.wasMissing && !pod.isEndUnsure)
      return endedAtMs - END_MS;
    return this.#shown.get(pod.id)?.shownMs ?? 0;
  }

  #show(id: string, shownMs: number): void {
    const toldMs = this.#nowMs();
    const last = this.#shown.get(id);
    const isNoted = last !== undefined && toldMs - last.toldMs >= NOTE_MS;
    this.#shown.set(id, { shownMs, toldMs, beforeMs: isNoted ? last.shownMs : (last?.beforeMs ?? 0) });
  }
}

function billUsd(pod: CloudPod, untilMs: number): number {
  return upToUsd(pod, Math.min(untilMs, pod.endedAtMs ?? untilMs));
}

function upToUsd({ createdAtMs, priceUsdPerHour }: CloudPod, untilMs: number): number {
  return (Math.max(0, untilMs - createdAtMs) * priceUsdPerHour) / MS_PER_HOUR;
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}
