import type { RentedMachine } from '../port.ts';
import type { ApiName } from './api-call.ts';

/** What is asked of the machine beyond the card; the CUDA floor and the disk are never given up. */
export interface Constraints {
  readonly dataCenters: readonly string[];
  readonly minVcpu: number;
  readonly minMemoryGb: number;
}

/** GraphQL takes one data centre a call, and each costs a call of the budget when the card is sold out. */
const MAX_PLACES = 4;

/**
 * What is asked for, step by step, each only once the one before was refused for want of capacity: the data centres are
 * dropped first, then processors and memory (contract 8, row 1). Community pods are pinned nowhere: it makes every create
 * fail (row 3). A network volume forces its own data centre.
 */
export function rentSteps(machine: RentedMachine, api: ApiName): Constraints[] {
  const { offer, networkVolume, dataCenters, minVcpu, minMemoryGb } = machine;
  const isPinned = offer.cloud === 'secure' && networkVolume === null && dataCenters.length > 0;
  const places = isPinned
    ? api === 'rest'
      ? [dataCenters]
      : dataCenters.slice(0, MAX_PLACES).map((place) => [place])
    : [];
  const steps = [...places, []].map((place) => ({ dataCenters: place, minVcpu, minMemoryGb }));
  const isBounded = minVcpu > 0 || minMemoryGb > 0;
  return isBounded ? [...steps, { dataCenters: [], minVcpu: 0, minMemoryGb: 0 }] : steps;
}
