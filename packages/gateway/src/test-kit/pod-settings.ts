import type { PodSettings } from '@pagefleet/contract';
import { defaultEngineSettings } from '@pagefleet/runtime';

/** What a pod of a test is told, whole; the test changes what it is about. */
export function podSettings(changes: Partial<PodSettings> = {}): PodSettings {
  return {
    clusterId: 'ours',
    podKey: '0'.repeat(32),
    keyId: 'k1',
    pool: 'ocr',
    name: 'ours-ocr-00000000',
    width: 1,
    configHash: 'hash',
    spot: false,
    podId: 'local-00000000',
    token: 'a1'.repeat(32),
    port: 0,
    portFile: '',
    host: '127.0.0.1',
    transport: 'plain',
    deadManMs: 60_000,
    removal: 'exit',
    apiUrl: '',
    graphqlUrl: '',
    engine: 'sleep',
    ...defaultEngineSettings(),
    tesseract: 'cli',
    pageTimeoutMs: 60_000,
    sleepMs: 0,
    maxPixels: 40_000_000,
    maxPageBytes: 20_000_000,
    stallMs: 3_000,
    fatalStallMs: 60_000,
    logLevel: 'info',
    ...changes,
  };
}
