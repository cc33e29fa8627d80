import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Offer } from '@pagefleet/core';
import {
  createRunpodProvider,
  type Provider,
  type RentedMachine,
  type RentRequest,
} from '@pagefleet/providers';
import { createLogger } from '@pagefleet/runtime';
import { type FakeRunpod, type FakeRunpodOptions, startFakeRunpod } from '@pagefleet/sim/fake-runpod';
import { onTestFinished } from 'vitest';
import { rentRequest } from '../../conformance/provider.ts';

export interface RunpodAccount {
  readonly fake: FakeRunpod;
  readonly stateDir: string;
  /** the clock of the providers; retries do not wait */
  readonly clock: { nowMs: () => number; offsetMs: number; sleep: () => Promise<void> };
  readonly lines: Record<string, unknown>[];
  /** another process with the same account and state */
  open(options?: { graphqlHourlyBudget?: number; apiKey?: string; restUrl?: string }): Provider;
}

/** A fake whose pods are played and cost no time; closed when the test is over. */
export async function openRunpod(options: FakeRunpodOptions = {}): Promise<RunpodAccount> {
  const { pod, ...knobs } = options.knobs ?? {};
  const quick = { bootMs: 0, listenerDelayMs: 0, listen: false };
  const fake = await startFakeRunpod({ ...options, knobs: { ...knobs, pod: { ...quick, ...pod } } });
  const stateDir = mkdtempSync(join(tmpdir(), 'pf-runpod-'));
  const clock = {
    offsetMs: 0,
    nowMs: () => Date.now() + clock.offsetMs,
    sleep: async () => undefined,
  };
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const logger = createLogger({ component: 'test', level: 'debug', destination: { write } });
  const opened: Provider[] = [];
  onTestFinished(async () => {
    await Promise.all(opened.map((provider) => provider.close()));
    await fake.close();
    rmSync(stateDir, { recursive: true, force: true });
  });

  return {
    ...{ fake, stateDir, clock, lines },
    open(changes = {}) {
      const provider = createRunpodProvider({
        ...{ apiKey: fake.apiKey, restUrl: fake.restV2Url, graphqlUrl: fake.graphqlUrl },
        ...{ graphqlHourlyBudget: 0, stateDir, logger, clock, ...changes },
      });
      opened.push(provider);
      return provider;
    },
  };
}

export const A40: Offer = {
  ...{ card: 'NVIDIA A40', cloud: 'secure', spot: false, memoryGb: 48, priceUsdPerHour: 0.44, stock: 'high' },
};
export const A40_SPOT: Offer = { ...A40, spot: true, priceUsdPerHour: 0.24 };

export function order(changes: Partial<RentedMachine> = {}): RentRequest {
  const machine: RentedMachine = {
    ...{ offer: A40, bidUsdPerGpuHour: changes.offer?.spot ? changes.offer.priceUsdPerHour : null },
    ...{
      image: 'acme/ocr:1',
      entrypoint: [],
      startCommand: [],
      diskGb: 40,
      minCuda: '12.4',
      minVcpu: 0,
      minMemoryGb: 0,
    },
    ...{
      dataCenters: [],
      networkVolume: null,
      globalVolume: null,
      volumePath: '/workspace',
      registryAuth: null,
      env: [],
    },
    ...{ transport: 'plain-tcp', endsAtMs: Date.now() + 86_400_000, ...changes },
  };
  const request = rentRequest();
  const mark = { ...request.mark, podKey: randomBytes(16).toString('hex'), spot: machine.offer.spot };
  const name = `cluster-ocr-${randomUUID().slice(0, 8)}`;
  return { ...request, mark: { ...mark, name }, machine };
}

/** Answers that came: what was withheld is not among them, and what the fake refused for want of quota is. */
export function sentTo({ lines }: RunpodAccount, api: 'rest' | 'graphql'): number {
  return lines.filter((line) => line.event === 'runpod_answered' && line.api === api).length;
}

/** How often the fake carried out such a call: `graphql podTerminate`; refusals by quota do not count */
export function callsOf({ fake }: RunpodAccount, name: string): number {
  return fake.calls()[name] ?? 0;
}
