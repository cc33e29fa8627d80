import type { PodSettings } from '@pagefleet/contract';
import { constantTimeEqual, type Logger } from '@pagefleet/runtime';
import type { EngineKeeper } from './engine-keeper.ts';
import { createOwnerMemory, type OwnerMemory } from './owner-memory.ts';
import { createPageGate, type PageGate } from './page-gate.ts';
import { createPageRegister, type PageRegister } from './page-register.ts';

/** What the routes of one pod share. */
export interface Pod {
  readonly settings: PodSettings;
  readonly engine: EngineKeeper;
  readonly logger: Logger;
  readonly gate: PageGate;
  readonly register: PageRegister;
  readonly owner: OwnerMemory;
  readonly monotonicMs: () => number;
  readonly isBearer: (authorization: string | undefined) => boolean;
  /** set once, when the pod takes no more pages */
  stopping: boolean;
  /** pages that were read well */
  pagesDone: number;
}

export interface PodParts {
  readonly settings: PodSettings;
  readonly engine: EngineKeeper;
  readonly logger: Logger;
  readonly monotonicMs: () => number;
}

export function createPod(parts: PodParts): Pod {
  const { settings, monotonicMs } = parts;
  const expected = `Bearer ${settings.token}`;
  return {
    ...parts,
    gate: createPageGate(settings.width),
    register: createPageRegister(monotonicMs),
    owner: createOwnerMemory(settings.clusterId, settings.deadManMs, monotonicMs),
    isBearer: (authorization) => authorization !== undefined && constantTimeEqual(authorization, expected),
    stopping: false,
    pagesDone: 0,
  };
}
