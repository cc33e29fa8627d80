import { type Config, imageOf, isStock, type PodSettings, type Pool, transportOf } from '@pagefleet/contract';
import type { Offer } from '@pagefleet/core';
import { companionCommand, type RentedMachine } from '@pagefleet/providers';

/** What is asked of the provider for one pod of a pool, at the offer that was chosen. */
export function machineOf(offer: Offer, pool: Pool, createdAtMs: number): RentedMachine {
  const { machine } = pool;
  const { entrypoint, cmd } = isStock(pool)
    ? companionCommand()
    : { entrypoint: [], cmd: machine.startCommand };
  return {
    offer,
    // One card a pod, so the price of the whole pod is the bid per card.
    bidUsdPerGpuHour: offer.spot ? offer.priceUsdPerHour : null,
    image: imageOf(pool),
    entrypoint,
    startCommand: cmd,
    env: machine.env,
    diskGb: machine.diskGb,
    minCuda: machine.minCuda || null,
    minVcpu: machine.minVcpu,
    minMemoryGb: machine.minMemoryGb,
    dataCenters: machine.dataCenters,
    networkVolume: machine.networkVolume || null,
    globalVolume: machine.globalVolume || null,
    volumePath: machine.volumePath,
    registryAuth: machine.registryAuth || null,
    transport: transportOf(pool),
    endsAtMs: createdAtMs + machine.maxAgeMs,
  };
}

type Place = Pick<PodSettings, 'host' | 'transport' | 'removal' | 'apiUrl' | 'graphqlUrl'>;

/** Where a pod listens, how it is spoken to, and how it ends itself when nobody asks for it any more. */
export function placeOf(pool: Pool, { runpod }: Config): Place {
  if (pool.provider === 'local') {
    return { host: '127.0.0.1', transport: 'plain', removal: 'exit', apiUrl: '', graphqlUrl: '' };
  }
  return {
    host: '0.0.0.0',
    transport: transportOf(pool) === 'tls-psk' ? 'tls-psk' : 'plain',
    removal: 'runpod',
    apiUrl: runpod.restUrl,
    graphqlUrl: runpod.graphqlUrl,
  };
}
