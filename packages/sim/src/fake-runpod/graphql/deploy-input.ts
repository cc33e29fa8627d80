import type { Account, Template } from '../account.ts';
import { type Cloud, microUsd } from '../table/catalogue.ts';
import type { PodRequest } from '../table/pod-record.ts';
import { graphqlFault } from './graphql-fault.ts';

export interface DeployInput {
  readonly bidPerGpu?: number | null;
  readonly instanceId?: string | null;
  readonly cloudType?: 'ALL' | Cloud | null;
  readonly gpuTypeId?: string | null;
  readonly gpuTypeIdList?: readonly string[] | null;
  readonly gpuCount?: number | null;
  readonly imageName?: string | null;
  readonly name?: string | null;
  readonly templateId?: string | null;
  readonly dockerArgs?: string | null;
  readonly containerDiskInGb?: number | null;
  readonly volumeInGb?: number | null;
  readonly volumeMountPath?: string | null;
  readonly networkVolumeId?: string | null;
  readonly ports?: string | null;
  readonly env?: readonly { readonly key: string; readonly value: string }[] | null;
  readonly minVcpuCount?: number | null;
  readonly minMemoryInGb?: number | null;
  readonly dataCenterId?: string | null;
  readonly countryCode?: string | null;
  readonly stopAfter?: string | null;
  readonly terminateAfter?: string | null;
  readonly minCudaVersion?: string | null;
  readonly allowedCudaVersions?: readonly string[] | null;
  readonly containerRegistryAuthId?: string | null;
  readonly globalNetwork?: boolean | null;
  readonly objectMounts?: readonly { readonly objectStoreId: string; readonly mountPath: string }[] | null;
}

const VCPUS_PER_GPU = 9;
const GB_PER_GPU = 50;
const MAX_ENV = 50;

/** What a GraphQL create asks for. `spot`: it bids; without a bid it offers nothing and finds nothing. */
export function parseDeploy(account: Account, input: DeployInput, { spot }: { spot: boolean }): PodRequest {
  const template = templateOf(account, input.templateId);
  const image = input.imageName ?? template?.image;
  if (!image) throw graphqlFault('imageName is required');
  const env = {
    ...template?.env,
    ...Object.fromEntries((input.env ?? []).map(({ key, value }) => [key, value])),
  };
  if (Object.keys(env).length > MAX_ENV)
    throw graphqlFault(`at most ${MAX_ENV} environment variables are allowed`);
  const gpuCount = input.gpuCount ?? 1;
  const path = input.volumeMountPath ?? template?.volumePath ?? '/workspace';
  const volume = volumeOf(account, input.networkVolumeId);
  const mount = input.objectMounts?.[0];
  return {
    name: input.name ?? 'unnamed',
    image,
    templateId: template?.id ?? null,
    dockerArgs: input.dockerArgs ?? template?.args ?? '',
    ...parseDockerArgs(input.dockerArgs ?? template?.args ?? ''),
    env,
    ports: splitPorts(input.ports ?? template?.ports.join(',') ?? ''),
    gpuIds: input.gpuTypeIdList ?? (input.gpuTypeId ? [input.gpuTypeId] : []),
    gpuCount: input.instanceId ? 0 : gpuCount,
    cpuId: input.instanceId ?? null,
    vcpuCount: Math.max(VCPUS_PER_GPU * gpuCount, input.minVcpuCount ?? 0),
    memoryGb: Math.max(GB_PER_GPU * gpuCount, input.minMemoryInGb ?? 0),
    clouds: cloudsOf(input.cloudType ?? 'ALL'),
    dataCenterIds: volume ? [volume.dataCenterId] : input.dataCenterId ? [input.dataCenterId] : [],
    countryCode: input.countryCode ?? null,
    diskGb: input.containerDiskInGb ?? template?.diskGb ?? 20,
    volumeGb: input.volumeInGb ?? template?.volumeGb ?? 0,
    volumePath: path,
    networkVolume: volume ? { volumeId: volume.id, path } : null,
    globalVolume: mount ? { volumeId: mount.objectStoreId, path: mount.mountPath } : null,
    registryId: input.containerRegistryAuthId ?? null,
    allowedCudaVersions: input.allowedCudaVersions ?? [],
    minCudaVersion: input.minCudaVersion ?? null,
    globalNetworking: input.globalNetwork ?? false,
    bidMicroUsdPerGpu: spot ? microUsd(input.bidPerGpu ?? 0) : null,
    stopAfterMs: instantOf(input.stopAfter),
    terminateAfterMs: instantOf(input.terminateAfter),
  };
}

/** A plain command, or JSON with `cmd` and `entrypoint`. */
export function parseDockerArgs(args: string): { entrypoint: readonly string[]; cmd: readonly string[] } {
  try {
    const { entrypoint = [], cmd = [] } = JSON.parse(args) as { entrypoint?: string[]; cmd?: string[] };
    return { entrypoint, cmd };
  } catch {
    return { entrypoint: [], cmd: args.trim() === '' ? [] : args.trim().split(/\s+/) };
  }
}

export function splitPorts(ports: string): string[] {
  return ports
    .split(',')
    .map((port) => port.trim())
    .filter((port) => /^\d+\/(tcp|http)$/.test(port));
}

/** ALL tries the dearer secure hosts only when the community has none, and then charges theirs: a price to be checked. */
function cloudsOf(cloudType: 'ALL' | Cloud): Cloud[] {
  return cloudType === 'ALL' ? ['COMMUNITY', 'SECURE'] : [cloudType];
}

function templateOf(account: Account, id: string | null | undefined): Template | null {
  if (!id) return null;
  const template = account.templates.get(id);
  if (!template) throw graphqlFault('template not found');
  return template;
}

function volumeOf(account: Account, id: string | null | undefined) {
  if (!id) return null;
  const volume = account.networkVolumes.get(id);
  if (!volume) throw graphqlFault('network volume not found');
  return volume;
}

function instantOf(text: string | null | undefined): number | null {
  if (!text) return null;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw graphqlFault(`"${text}" is not a date`);
  return ms;
}
