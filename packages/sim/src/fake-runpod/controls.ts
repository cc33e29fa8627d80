import type { Bodies } from './pods/bodies.ts';
import type { Service } from './service.ts';
import { microUsd, type StockCell, type StockWord } from './table/catalogue.ts';
import {
  type CallFault,
  CREATE_ANSWERS,
  changeKnobs,
  type DeepPartial,
  type PodKnobs,
  type ServiceKnobs,
} from './table/knobs.ts';
import { type LedgerLine, ledgerLines, totalCost, usdOf } from './table/ledger.ts';
import { freeCards } from './table/place-pod.ts';
import type { PodRecord } from './table/pod-record.ts';

/** Every cell of the catalogue that matches is changed; left out = any. */
export interface StockPlace {
  readonly gpuId?: string;
  readonly cloud?: 'SECURE' | 'COMMUNITY';
  readonly dataCenterId?: string;
}

export interface StockChange {
  readonly stock?: StockWord;
  /** cards that are really free, whatever the word says */
  readonly free?: number;
  readonly usdPerHour?: number;
  readonly spotUsdPerHour?: number | null;
  readonly cudaVersion?: string;
}

/** What a test, and the admin paths, can do to the fake behind the back of its clients. */
export interface FakeRunpodControls {
  nowMs(): number;
  /** Moves the clock, lets everything due happen, and resolves when what must listen by then listens. */
  advance(ms: number): Promise<void>;
  setSpeed(speed: number): void;
  /** Resolves when everything that must listen by now listens, and nothing else. */
  settled(): Promise<void>;
  setKnobs(changes: DeepPartial<ServiceKnobs>): void;
  /** The next `times` pods behave so; after that `knobs.pod` is in force again. */
  nextCreates(times: number, knobs: Partial<PodKnobs>): void;
  /** A pod that exists behaves so from now on. */
  setPodKnobs(id: string, knobs: Partial<PodKnobs>): void;
  failNext(fault: CallFault): void;
  setStock(place: StockPlace, change: StockChange): void;
  ban(api: 'graphql' | 'v2', forMs: number): void;
  outbid(id: string, look?: PodKnobs['outbidLook']): boolean;
  /** Its process ends by itself; RunPod goes on calling it RUNNING. */
  exitContainer(id: string): boolean;
  /** All pods that ever were. */
  pods(): PodRecord[];
  pod(id: string): PodRecord | undefined;
  ledger(): LedgerLine[];
  costUsd(): number;
  /** `v2 GET /pods` → how often it was called */
  calls(): Record<string, number>;
}

export function createControls({
  service,
  bodies,
}: {
  service: Service;
  bodies: Bodies;
}): FakeRunpodControls {
  const { account, clock, cloud, journal } = service;
  const settled = async (): Promise<void> => {
    cloud.settle();
    await bodies.settled();
  };
  const ledger = (): LedgerLine[] => {
    cloud.settle();
    return ledgerLines(account.pods.values(), clock.nowMs());
  };

  return {
    nowMs: () => clock.nowMs(),
    async advance(ms) {
      clock.advance(ms);
      await settled();
    },
    setSpeed: (speed) => clock.setSpeed(speed),
    settled,
    setKnobs(changes) {
      changeKnobs(account.knobs, changes);
      checkAnswer(account.knobs.pod);
      journal.knobs(account.knobs);
    },
    nextCreates(times, knobs) {
      checkAnswer(knobs);
      changeKnobs(structuredClone(account.knobs.pod), knobs);
      for (let left = times; left > 0; left -= 1) account.nextCreates.push({ ...knobs });
    },
    setPodKnobs(id, knobs) {
      const pod = account.pods.get(id);
      if (!pod) throw new Error(`there is no pod ${id}`);
      changeKnobs(pod.knobs, knobs);
      cloud.save(pod);
    },
    failNext: (fault) => void service.faults.push({ ...fault }),
    setStock(place, change) {
      for (const cell of account.catalogue.cells)
        if (isAt(cell, place)) changeCell(cell, change, account.pods);
      journal.cells(account.catalogue.cells);
    },
    ban: (api, forMs) => service.ban(api, clock.nowMs() + forMs),
    outbid: (id, look) => cloud.outbid(id, look),
    exitContainer: (id) => cloud.exitContainer(id),
    pods: () => [...account.pods.values()],
    pod: (id) => account.pods.get(id),
    ledger,
    costUsd: () => usdOf(totalCost(ledger())),
    calls: () => Object.fromEntries(service.counts),
  };
}

function checkAnswer({ answer }: Partial<PodKnobs>): void {
  if (answer !== undefined && !CREATE_ANSWERS.includes(answer))
    throw new Error(`there is no answer "${answer}"`);
}

function isAt(cell: StockCell, { gpuId, cloud, dataCenterId }: StockPlace): boolean {
  return (
    (gpuId ?? cell.gpuId) === cell.gpuId &&
    (cloud ?? cell.cloud) === cell.cloud &&
    (dataCenterId ?? cell.dataCenterId) === cell.dataCenterId
  );
}

function changeCell(cell: StockCell, change: StockChange, pods: ReadonlyMap<string, PodRecord>): void {
  const { stock, free, usdPerHour, spotUsdPerHour, cudaVersion } = change;
  if (stock !== undefined) cell.stock = stock;
  if (free !== undefined) cell.supply += free - freeCards(cell, pods.values());
  if (usdPerHour !== undefined) cell.microUsdPerHour = microUsd(usdPerHour);
  if (spotUsdPerHour !== undefined) {
    cell.spotMicroUsdPerHour = spotUsdPerHour === null ? null : microUsd(spotUsdPerHour);
  }
  if (cudaVersion !== undefined) cell.cudaVersion = cudaVersion;
}
