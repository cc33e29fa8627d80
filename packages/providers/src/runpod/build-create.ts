import { POD_PORT } from '@pagefleet/contract';
import { encodePodSettings } from '@pagefleet/runtime';
import type { RentedMachine, RentRequest } from '../port.ts';
import { type ApiCall, CREATE_TIMEOUT_MS } from './api-call.ts';
import type { Constraints } from './rent-steps.ts';

/** An offer is one card, and so is every pod. Sent always: v2 finds nothing without it (contract 4.6). */
export const GPU_COUNT = 1;

export interface CreatePlan {
  readonly request: RentRequest;
  readonly machine: RentedMachine;
  readonly constraints: Constraints;
  readonly withGlobalVolume: boolean;
}

/** What the listing needs of a pod that was created this moment. Few fields: each is one that may be gone tomorrow. */
const CREATED = 'id name desiredStatus costPerHr createdAt machineId';

/** Spot and on-demand are two mutations of one input; only spot has a bid. */
export function buildGraphqlCreate(plan: CreatePlan): ApiCall {
  const { machine, constraints } = plan;
  const isSpot = machine.offer.spot;
  const [field, type] = isSpot
    ? ['podRentInterruptable', 'PodRentInterruptableInput']
    : ['podFindAndDeployOnDemand', 'PodFindAndDeployOnDemandInput'];
  const [dataCenterId] = constraints.dataCenters;
  const input = {
    cloudType: machine.offer.cloud === 'secure' ? 'SECURE' : 'COMMUNITY',
    gpuTypeId: machine.offer.card,
    gpuCount: GPU_COUNT,
    ...(isSpot ? { bidPerGpu: bidOf(machine) } : {}),
    name: plan.request.mark.name,
    imageName: machine.image,
    dockerArgs: dockerArgs(machine),
    containerDiskInGb: machine.diskGb,
    volumeInGb: 0,
    volumeMountPath: machine.volumePath,
    ports: portsOf(machine).join(','),
    env: Object.entries(podEnv(plan.request)).map(([key, value]) => ({ key, value })),
    terminateAfter: new Date(machine.endsAtMs).toISOString(),
    ...(machine.minCuda === null ? {} : { minCudaVersion: machine.minCuda }),
    ...(constraints.minVcpu > 0 ? { minVcpuCount: constraints.minVcpu } : {}),
    ...(constraints.minMemoryGb > 0 ? { minMemoryInGb: constraints.minMemoryGb } : {}),
    ...(dataCenterId === undefined ? {} : { dataCenterId }),
    // Hosts of the community may have none; every secure one has.
    ...(machine.offer.cloud === 'community' && machine.transport !== 'proxy'
      ? { supportPublicIp: true }
      : {}),
    ...(machine.networkVolume === null ? {} : { networkVolumeId: machine.networkVolume }),
    ...(machine.registryAuth === null ? {} : { containerRegistryAuthId: machine.registryAuth }),
    ...globalMount(plan, (volume, mountPath) => ({ objectMounts: [{ objectStoreId: volume, mountPath }] })),
  };
  return {
    ...{
      operation: isSpot ? 'create-spot' : 'create',
      method: 'POST',
      path: '',
      timeoutMs: CREATE_TIMEOUT_MS,
    },
    body: {
      query: `mutation Rent($input: ${type}!) { ${field}(input: $input) { ${CREATED} } }`,
      variables: { input },
    },
  };
}

/** On-demand only: v2 has no spot, no request for a public IP and no timer that ends the pod. */
export function buildRestCreate(plan: CreatePlan): ApiCall {
  const { machine, constraints } = plan;
  const { networkVolume, volumePath } = machine;
  const mounts = {
    ...(networkVolume === null ? {} : { network: [{ volumeId: networkVolume, path: volumePath }] }),
    ...globalMount(plan, (volumeId, path) => ({ global: [{ volumeId, path }] })),
  };
  const body = {
    name: plan.request.mark.name,
    image: machine.image,
    gpu: {
      id: machine.offer.card,
      count: GPU_COUNT,
      ...(machine.minCuda === null ? {} : { minCudaVersion: machine.minCuda }),
      ...(constraints.minVcpu > 0 ? { minVcpuCountPerGpu: Math.ceil(constraints.minVcpu / GPU_COUNT) } : {}),
      ...(constraints.minMemoryGb > 0
        ? { minRamPerGpu: Math.ceil(constraints.minMemoryGb / GPU_COUNT) }
        : {}),
    },
    cloud: machine.offer.cloud === 'secure' ? 'SECURE' : 'COMMUNITY',
    ...(constraints.dataCenters.length === 0 ? {} : { dataCenterIds: constraints.dataCenters }),
    disk: machine.diskGb,
    ports: portsOf(machine),
    env: podEnv(plan.request),
    ...command(machine),
    ...(Object.keys(mounts).length === 0 ? {} : { mounts }),
    ...(machine.registryAuth === null ? {} : { registry: machine.registryAuth }),
    startSsh: false,
    startJupyter: false,
  };
  return { operation: 'create', method: 'POST', path: '/pods', body, timeoutMs: CREATE_TIMEOUT_MS };
}

/** The id is RunPod's to give: the pod finds it in its environment. */
export function podEnv({ mark, settings, machine }: RentRequest): Record<string, string> {
  const further = (machine?.env ?? []).map((entry) => {
    const at = entry.indexOf('=');
    return [entry.slice(0, at), entry.slice(at + 1)];
  });
  return {
    ...Object.fromEntries(further),
    ...encodePodSettings({ ...settings, ...mark, podId: null, portFile: '' }),
  };
}

/** As GraphQL takes it. Left out or empty, the create fails with the catch-all (contract 8, row 33). */
function dockerArgs(machine: RentedMachine): string {
  const given = command(machine);
  return Object.keys(given).length === 0 ? ' ' : JSON.stringify(given);
}

function command({ entrypoint, startCommand }: RentedMachine) {
  return {
    ...(startCommand.length === 0 ? {} : { cmd: startCommand }),
    ...(entrypoint.length === 0 ? {} : { entrypoint }),
  };
}

function portsOf({ transport }: RentedMachine): string[] {
  return [`${POD_PORT}/${transport === 'proxy' ? 'http' : 'tcp'}`];
}

/** Per GPU, unlike the price of an offer, and never below its floor: such a bid finds no machine. */
function bidOf({ offer, bidUsdPerGpuHour }: RentedMachine): number {
  return Math.max(bidUsdPerGpuHour ?? 0, offer.priceUsdPerHour / GPU_COUNT);
}

function globalMount<T extends object>(
  { machine, withGlobalVolume }: CreatePlan,
  mount: (volume: string, path: string) => T,
): T | Record<string, never> {
  const { globalVolume, volumePath } = machine;
  return globalVolume === null || !withGlobalVolume ? {} : mount(globalVolume, volumePath);
}
