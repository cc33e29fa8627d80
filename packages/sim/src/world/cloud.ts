import type { PodMark } from '@pagefleet/contract';
import type { OfferBook, RefusalFault } from '@pagefleet/core';
import type { ListedPod, RentOutcome, RentRequest } from '@pagefleet/providers';
import type { VirtualClock } from './virtual-clock.ts';

/** What becomes of one rent. */
export interface RentFate {
  /** `lost`: no answer, or one that says nothing; `thrown`: a fault in the provider's own code */
  readonly answer: 'rented' | 'refused' | 'lost' | 'thrown';
  readonly fault: RefusalFault;
  readonly isBought: boolean;
  /** the pod appears that much after the call */
  readonly lateMs: number;
  readonly answerMs: number;
  readonly addressMs: number;
  /** from the call until it serves; Infinity = never */
  readonly bootMs: number;
  /** in no listing for so long */
  readonly hiddenMs: number;
  readonly priceFactor: number;
  /** one call, two pods */
  readonly isTwin: boolean;
  /** it listens where a pod that is gone did */
  readonly reusesAddress: boolean;
}

/** A pod as it really is. */
export interface CloudPod {
  readonly id: string;
  readonly name: string;
  readonly mark: PodMark | null;
  readonly token: string;
  readonly createdAtMs: number;
  readonly shownFromMs: number;
  readonly addressFromMs: number;
  readyAtMs: number;
  url: string;
  priceUsdPerHour: number;
  refusesUntilMs: number;
  refusesPagesUntilMs: number;
  /** connections are taken and never answered */
  isHung: boolean;
  hasExited: boolean;
  /** missing from exactly one listing, as an account that is not quite consistent would have it */
  isHiddenOnce: boolean;
  /** ends are accepted and nothing happens */
  ignoresEndUntilMs: number;
  endedAtMs: number | null;
  /** when that was first asked for and accepted */
  askedToEndMs: number | null;
  /** some listing lacked it while it was there: that happens to a pod once, whoever looks */
  wasMissing: boolean;
  /** its end was asked for in vain, so that nobody can say which call ended it */
  isEndUnsure: boolean;
  used: number;
  good: number;
  lastGoodMs: number;
}

export interface Account {
  readonly clusterId: string;
  readonly offers: OfferBook | null;
  readonly freePrice: number;
}

/** The provider's side: what was rented, what runs, what bills. It knows nothing of controllers. */
export class Cloud {
  readonly pods = new Map<string, CloudPod>();
  /** pods whose end was taken: the account knew them */
  readonly endsTaken = new Set<string>();
  /** by the name of the pod asked for; what may still appear */
  readonly expected = new Map<string, number>();
  /** by address, the tokens of everyone who has ever listened there */
  readonly tokensAt = new Map<string, Set<string>>();
  isApiUp = true;
  readonly #clock: VirtualClock;
  readonly #account: Account;
  readonly #freeAddresses: string[] = [];
  #n = 0;

  constructor(clock: VirtualClock, account: Account) {
    this.#clock = clock;
    this.#account = account;
  }

  get clusterId(): string {
    return this.#account.clusterId;
  }

  get offers(): OfferBook | null {
    return this.#account.offers;
  }

  living(): CloudPod[] {
    return [...this.pods.values()].filter((pod) => pod.endedAtMs === null);
  }

  /** those of the cluster under test */
  ours(): CloudPod[] {
    return this.living().filter((pod) => pod.mark?.clusterId === this.#account.clusterId);
  }

  rent(request: RentRequest, fate: RentFate): RentOutcome {
    const { name } = request.mark;
    let pod: CloudPod | null = null;
    if (fate.isBought && fate.lateMs === 0) {
      pod = this.#create(request, fate);
      if (fate.isTwin) this.#create(request, fate);
    } else if (fate.isBought) {
      this.expected.set(name, (this.expected.get(name) ?? 0) + 1);
      this.#clock.later(fate.lateMs, () => {
        this.expected.delete(name);
        this.#create(request, fate);
      });
    }
    switch (fate.answer) {
      case 'rented':
        return pod === null ? LOST : { kind: 'rented', pod: this.#listed(pod) };
      case 'refused':
        return { kind: 'refused', fault: fate.fault, reason: 'there are no longer any instances available' };
      case 'lost':
        return LOST;
      case 'thrown':
        throw new TypeError('runtime.ports is null');
    }
  }

  list(): ListedPod[] {
    const nowMs = this.#clock.nowMs;
    const shown = this.living().filter((pod) => nowMs >= pod.shownFromMs && !pod.isHiddenOnce);
    for (const pod of this.living()) {
      pod.wasMissing ||= pod.isHiddenOnce || nowMs < pod.shownFromMs;
      pod.isHiddenOnce = false;
    }
    return shown.map((pod) => this.#listed(pod));
  }

  /** One that cannot be seen yet cannot be ended either: the answer is that of a pod that is none (contract 8, row 13). */
  terminate(id: string): 'absent' | undefined {
    const pod = this.pods.get(id);
    if (pod === undefined || pod.endedAtMs !== null || this.#clock.nowMs < pod.shownFromMs) return 'absent';
    this.endsTaken.add(id);
    pod.askedToEndMs ??= this.#clock.nowMs;
    if (this.#clock.nowMs >= pod.ignoresEndUntilMs) this.end(pod);
    return undefined;
  }

  end(pod: CloudPod): void {
    if (pod.endedAtMs !== null) return;
    pod.endedAtMs = this.#clock.nowMs;
    this.#freeAddresses.push(pod.url);
  }

  move(pod: CloudPod, url: string): void {
    pod.url = url;
    this.tokensAt.set(url, (this.tokensAt.get(url) ?? new Set()).add(pod.token));
  }

  /** one that somebody else put there */
  place(pod: { name: string; mark: PodMark | null; token: string }): CloudPod {
    return this.#put({
      ...pod,
      price: 1,
      readyAtMs: this.#clock.nowMs,
      shownFromMs: 0,
      addressFromMs: 0,
      url: null,
    });
  }

  #create({ mark, settings, machine }: RentRequest, fate: RentFate): CloudPod {
    const nowMs = this.#clock.nowMs;
    const quote = machine?.offer.priceUsdPerHour ?? this.#account.freePrice;
    return this.#put({
      name: mark.name,
      mark,
      token: settings.token,
      price: quote * fate.priceFactor,
      readyAtMs: nowMs + fate.bootMs,
      shownFromMs: nowMs + fate.hiddenMs,
      addressFromMs: nowMs + fate.addressMs,
      url: fate.reusesAddress ? (this.#freeAddresses.pop() ?? null) : null,
    });
  }

  #put(facts: {
    readonly name: string;
    readonly mark: PodMark | null;
    readonly token: string;
    readonly price: number;
    readonly readyAtMs: number;
    readonly shownFromMs: number;
    readonly addressFromMs: number;
    readonly url: string | null;
  }): CloudPod {
    this.#n += 1;
    const id = `pod${this.#n}`;
    const pod: CloudPod = {
      id,
      name: facts.name,
      mark: facts.mark,
      token: facts.token,
      createdAtMs: this.#clock.nowMs,
      shownFromMs: facts.shownFromMs,
      addressFromMs: facts.addressFromMs,
      readyAtMs: facts.readyAtMs,
      url: facts.url ?? `psk://host${this.#n}:1`,
      priceUsdPerHour: facts.price,
      ...{
        refusesUntilMs: 0,
        refusesPagesUntilMs: 0,
        isHung: false,
        hasExited: false,
        isHiddenOnce: false,
      },
      ...{
        ignoresEndUntilMs: 0,
        endedAtMs: null,
        askedToEndMs: null,
        wasMissing: false,
        isEndUnsure: false,
        used: 0,
        good: 0,
        lastGoodMs: 0,
      },
    };
    this.pods.set(id, pod);
    this.move(pod, pod.url);
    return pod;
  }

  #listed(pod: CloudPod): ListedPod {
    const hasAddress = this.#clock.nowMs >= pod.addressFromMs && !pod.hasExited;
    return {
      id: pod.id,
      name: pod.name,
      mark: pod.mark,
      url: hasAddress ? pod.url : null,
      createdAtMs: pod.createdAtMs,
      priceUsdPerHour: pod.priceUsdPerHour,
      status: pod.hasExited ? 'exited' : hasAddress ? 'running' : 'starting',
      card: null,
      cloud: null,
      detail: '',
    };
  }
}

const LOST: RentOutcome = { kind: 'ambiguous', cause: new Error('500: unexpected end of JSON input') };
