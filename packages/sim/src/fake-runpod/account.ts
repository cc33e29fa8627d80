import { type Catalogue, defaultCatalogue } from './table/catalogue.ts';
import { defaultKnobs, type PodKnobs, type ServiceKnobs } from './table/knobs.ts';
import type { PodRecord } from './table/pod-record.ts';

export interface NetworkVolume {
  readonly id: string;
  name: string;
  size: number;
  readonly dataCenterId: string;
  readonly type: 'STANDARD' | 'HIGH_PERFORMANCE';
}

interface GlobalVolume {
  readonly id: string;
  name: string;
  readonly createdAtMs: number;
}

export interface Registry {
  readonly id: string;
  readonly name: string;
}

export interface Template {
  readonly id: string;
  name: string;
  image: string;
  serverless: boolean;
  diskGb: number;
  volumeGb: number;
  volumePath: string;
  args: string;
  ports: string[];
  env: Record<string, string>;
}

export interface Endpoint {
  readonly id: string;
  readonly createdAtMs: number;
  name: string;
  /** as it was sent, with what was left out filled in */
  body: Record<string, unknown>;
  workersMin: number;
  workersMax: number;
  loadBalancer: boolean;
}

/** The collections beside the pods, by name; all of them hold plain data and are written to the journal in the same way. */
export interface Collections {
  networkVolumes: Map<string, NetworkVolume>;
  globalVolumes: Map<string, GlobalVolume>;
  registries: Map<string, Registry>;
  templates: Map<string, Template>;
  endpoints: Map<string, Endpoint>;
}

/** One account: everything that the four services know. */
export interface Account extends Collections {
  readonly pods: Map<string, PodRecord>;
  sshKeys: string[];
  catalogue: Catalogue;
  readonly knobs: ServiceKnobs;
  /** used up before `knobs.pod` is, one a create */
  readonly nextCreates: Partial<PodKnobs>[];
}

export function newAccount(): Account {
  return {
    pods: new Map(),
    networkVolumes: new Map(),
    globalVolumes: new Map(),
    registries: new Map(),
    templates: new Map(),
    endpoints: new Map(),
    sshKeys: [],
    catalogue: defaultCatalogue(),
    knobs: defaultKnobs(),
    nextCreates: [],
  };
}

/** The knobs of the pod that is created now. */
export function takePodKnobs(account: Account): PodKnobs {
  return { ...account.knobs.pod, ...account.nextCreates.shift() };
}
