import type { ListedPod, Provider, RentOutcome, RentRequest } from '@pagefleet/providers';
import type { Prng } from '../hand-over/prng.ts';
import type { Cloud, RentFate } from './cloud.ts';
import type { Knowledge, PortLaws } from './laws/port-laws.ts';
import type { Life } from './life.ts';

const TIMEOUT_MS = 30_000;

/** What the next calls meet; without an entry all goes well. */
export class ProviderFaults {
  readonly rents: Partial<RentFate>[] = [];
  /** the next listing fails, or takes so long */
  readonly listings: ('fails' | number)[] = [];
  /** the next end is accepted and ignored for so long, or fails */
  readonly ends: ('fails' | number)[] = [];

  /** All goes well from now on, also for calls that are under way. */
  isOver = false;

  clear(): void {
    this.isOver = true;
    for (const queue of [this.rents, this.listings, this.ends]) queue.length = 0;
  }
}

export interface SimProviderOptions {
  readonly cloud: Cloud;
  readonly laws: PortLaws;
  readonly faults: ProviderFaults;
  readonly knowledge: Knowledge;
  readonly life: Life;
  readonly prng: Prng;
  readonly note: (line: () => string) => void;
}

/** The provider's port as one controller has it, with the laws listening. */
export function createSimProvider(options: SimProviderOptions): Provider {
  const { cloud, laws, faults, knowledge, life, prng, note } = options;
  const { isFree } = knowledge.settings;

  const down = (): never => {
    throw new Error('provider_failed: the API does not answer');
  };

  async function list(): Promise<ListedPod[]> {
    const fault = faults.listings.shift();
    const startedAtMs = life.clock.nowMs();
    const backMs = cloud.isApiUp ? (typeof fault === 'number' ? fault : 50 + prng.int(400)) : TIMEOUT_MS;
    const look = () => (cloud.isApiUp && fault !== 'fails' ? cloud.list() : down());
    const entries = await life.call('list', look, { sendMs: 50, backMs });
    laws.onListed({ startedAtMs, endedAtMs: life.clock.nowMs(), entries }, knowledge);
    note(() => `${life.id} sees ${entries.map((entry) => entry.id).join(' ') || 'nothing'}`);
    return entries;
  }

  async function rent(request: RentRequest): Promise<RentOutcome> {
    const { name } = request.mark;
    const drawn = fateOf(faults.rents.shift() ?? {}, prng);
    const fate = isFree ? { ...drawn, ...AT_HOME } : drawn;
    const call: { arrived: () => void } = { arrived: () => undefined };
    const onSent = () => {
      note(() => `${life.id} rents ${name}: ${JSON.stringify(fate)}`);
      call.arrived = laws.onRent(request, knowledge);
    };
    const answerMs = cloud.isApiUp ? fate.answerMs : TIMEOUT_MS;
    const outcome = await life.call(
      'rent',
      () => {
        call.arrived();
        // What a free provider rents is a process of the controller's own machine: it is made by the one who asks.
        if (isFree && !life.isAlive) return NOTHING;
        return cloud.isApiUp ? cloud.rent(request, fate) : NOTHING;
      },
      { sendMs: answerMs / 2, backMs: answerMs / 2, onSent },
    );
    if (outcome.kind === 'rented') laws.onRented(outcome.pod, knowledge);
    return outcome;
  }

  async function terminate(id: string): Promise<'absent' | undefined> {
    const fault = faults.ends.shift();
    const onSent = () => {
      note(() => `${life.id} ends ${id}${fault === undefined ? '' : `: ${fault}`}`);
      laws.onTerminate(id, knowledge);
    };
    const end = () => {
      const pod = cloud.pods.get(id);
      if (pod !== undefined && (!cloud.isApiUp || fault === 'fails')) pod.isEndUnsure = true;
      if (!cloud.isApiUp || fault === 'fails') return down();
      if (typeof fault === 'number' && pod !== undefined && !faults.isOver)
        pod.ignoresEndUntilMs = pod.createdAtMs + fault;
      return cloud.terminate(id);
    };
    return life.call('terminate', end, { sendMs: 100, backMs: cloud.isApiUp ? 100 : TIMEOUT_MS, onSent });
  }

  return {
    free: isFree,
    listingProvesAbsence: isFree,
    offers: () => Promise.resolve(cloud.offers),
    rent,
    list,
    terminate,
    usage: () => [],
    billed: () => Promise.resolve(null),
    close: () => Promise.resolve(),
  };
}

/** What a free provider rents is there when the call is over, and in every listing. */
const AT_HOME = { lateMs: 0, hiddenMs: 0, isTwin: false } as const;
const NOTHING: RentOutcome = { kind: 'ambiguous', cause: new Error('no answer') };

function fateOf(odd: Partial<RentFate>, prng: Prng): RentFate {
  return {
    ...{ answer: 'rented', fault: 'no-capacity', isBought: odd.answer !== 'refused', lateMs: 0 },
    ...{
      answerMs: 400 + prng.int(2_000),
      addressMs: 2_000 + prng.int(5_000),
      bootMs: 5_000 + prng.int(15_000),
    },
    ...{ hiddenMs: 0, priceFactor: 1, isTwin: false, reusesAddress: false },
    ...odd,
  };
}
