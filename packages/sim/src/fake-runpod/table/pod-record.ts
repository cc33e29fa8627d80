import type { ProcessIdentity } from '@pagefleet/runtime';
import type { Cloud } from './catalogue.ts';
import type { PodKnobs } from './knobs.ts';

/** What was asked for, in one form for every API. */
export interface PodRequest {
  readonly name: string;
  readonly image: string;
  readonly templateId: string | null;
  /** exactly as it was sent */
  readonly dockerArgs: string;
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** `8000/tcp` */
  readonly ports: readonly string[];
  readonly gpuIds: readonly string[];
  readonly gpuCount: number;
  readonly cpuId: string | null;
  readonly vcpuCount: number;
  readonly memoryGb: number;
  /** in order of preference */
  readonly clouds: readonly Cloud[];
  readonly dataCenterIds: readonly string[];
  readonly countryCode: string | null;
  readonly diskGb: number;
  readonly volumeGb: number;
  readonly volumePath: string;
  readonly networkVolume: { readonly volumeId: string; readonly path: string } | null;
  readonly globalVolume: { readonly volumeId: string; readonly path: string } | null;
  readonly registryId: string | null;
  readonly allowedCudaVersions: readonly string[];
  readonly minCudaVersion: string | null;
  readonly globalNetworking: boolean;
  /** null = on demand */
  readonly bidMicroUsdPerGpu: number | null;
  readonly stopAfterMs: number | null;
  readonly terminateAfterMs: number | null;
}

export interface PortMapping {
  readonly private: number;
  readonly type: 'tcp' | 'http';
  /** the loopback port where it is really reached, for http by the proxy */
  public: number;
}

/** `toMs` null = it bills now. */
interface BillingInterval {
  readonly fromMs: number;
  toMs: number | null;
  readonly microUsdPerHour: number;
}

export interface PodRecord {
  readonly id: string;
  /** `{id}-{8 hex}` */
  readonly podHostId: string;
  readonly machineId: string;
  /** the key of its own environment: it reads and ends this pod and nothing else */
  readonly apiKey: string;
  request: PodRequest;
  readonly gpuId: string | null;
  readonly cloud: Cloud;
  readonly dataCenterId: string;
  readonly cudaVersion: string;
  microUsdPerHour: number;
  readonly knobs: PodKnobs;
  readonly createdAtMs: number;
  /** of the present run: a stopped pod that is started again boots again */
  startedAtMs: number;
  state: 'running' | 'exited' | 'terminated';
  /** it is nowhere to be seen, without having been ended by anyone */
  vanished: boolean;
  stateChangedAtMs: number;
  /** RunPod's own sentence for it, with the date it holds */
  lastStatusChange: string;
  /** whoever listens in it is left alone until then */
  graceUntilMs: number | null;
  /** its process ended by itself */
  containerExitedAtMs: number | null;
  ports: PortMapping[];
  readonly intervals: BillingInterval[];
  process: ProcessIdentity | null;
  /** `startedAtMs` of the run that its process was started for */
  processRunMs: number | null;
  locked: boolean;
}

const GATEWAY_IMAGE = /(^|\/)pagefleet\/gateway(:|@|$)/;

const STOCK_IMAGE = /(^|\/)vllm\/vllm-openai(:|@|$)/;

type Container = Pick<PodRequest, 'image' | 'entrypoint' | 'cmd'>;

/** Such a pod runs the command it was created with, in what stands for vLLM's image; without one it is played. */
export function isStockContainer({ image, entrypoint, cmd }: Container): boolean {
  return STOCK_IMAGE.test(image) && entrypoint.length + cmd.length > 0;
}

/** Such a pod is a real process, of our gateway or of a stock image; every other one is played. */
export function runsAsProcess(container: Container): boolean {
  return GATEWAY_IMAGE.test(container.image) || isStockContainer(container);
}
