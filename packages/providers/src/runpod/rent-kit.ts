import { defaultEngineSettings } from '@pagefleet/runtime';
import type { RentedMachine, RentRequest } from '../port.ts';

/** A pod as a controller asks for it; for tests. */
export function rentRequest(
  machine: Partial<RentedMachine> = {},
  changes: Partial<RentRequest['mark']> = {},
): RentRequest {
  return {
    mark: {
      ...{ clusterId: 'cluster-1', podKey: '0123456789abcdef'.repeat(2), keyId: 'k1', pool: 'ocr' },
      ...{ name: 'cluster-ocr-1a2b3c4d', width: 2, configHash: 'hash', spot: false, ...changes },
    },
    settings: {
      ...{ token: 'f'.repeat(64), port: 0, host: '0.0.0.0', transport: 'tls-psk', deadManMs: 120_000 },
      ...{ removal: 'runpod', apiUrl: '', graphqlUrl: '', engine: 'sleep' },
      ...{ ...defaultEngineSettings(), sleepMs: 20, maxPixels: 1_000_000, maxPageBytes: 1_000_000 },
      ...{ stallMs: 3_000, fatalStallMs: 60_000, logLevel: 'info' },
    },
    machine: rentedMachine(machine),
  };
}

export function rentedMachine(changes: Partial<RentedMachine> = {}): RentedMachine {
  return {
    offer: {
      ...{
        card: 'NVIDIA A40',
        cloud: 'secure',
        spot: false,
        memoryGb: 48,
        priceUsdPerHour: 0.44,
        stock: 'high',
      },
    },
    ...{
      bidUsdPerGpuHour: null,
      image: 'pagefleet/gateway:test',
      entrypoint: [],
      startCommand: [],
      diskGb: 40,
      minCuda: '12.4',
    },
    ...{ minVcpu: 0, minMemoryGb: 0, dataCenters: [], networkVolume: null, globalVolume: null },
    ...{
      volumePath: '/workspace',
      registryAuth: null,
      env: [],
      transport: 'tls-psk',
      endsAtMs: 1_764_547_200_000,
    },
    ...changes,
  };
}
