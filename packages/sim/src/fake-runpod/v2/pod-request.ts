import type { Account, Template } from '../account.ts';
import { parseDockerArgs } from '../graphql/deploy-input.ts';
import type { PodRequest } from '../table/pod-record.ts';
import type { PodCreate } from './pod-body.ts';
import { CAPACITY_DETAIL, Problem } from './problem.ts';

export const MAX_BODY_BYTES = 102_400;
const MAX_ENV = 50;

/** What a v2 create asks for, after the rules that join several of its fields. */
export function parsePodCreate(account: Account, body: PodCreate): PodRequest {
  refuseContradictions(account, body);
  const template = templateOf(account, body.templateId);
  const image = body.image ?? template?.image;
  if (!image) throw new Problem(422, 'Request validation failed.', ["$: missing property 'image'"]);
  const env = { ...template?.env, ...body.env };
  if (Object.keys(env).length > MAX_ENV) throw new Problem(400, `env holds more than ${MAX_ENV} entries`);
  if (Buffer.byteLength(JSON.stringify({ ...body, env })) > MAX_BODY_BYTES) {
    throw new Problem(413, `request body exceeds ${MAX_BODY_BYTES} bytes`);
  }
  const { gpu, cpu, mounts } = body;
  // Omitting the count matches no machine, although 1 is the documented default.
  if (gpu && gpu.count === undefined) throw new Problem(400, CAPACITY_DETAIL);
  const count = gpu?.count ?? 0;
  const network = networkVolumeOf(account, mounts);
  const { args, entrypoint, cmd } = commandOf(body, template);
  return {
    name: body.name,
    image,
    templateId: template?.id ?? null,
    dockerArgs: args,
    entrypoint,
    cmd,
    env,
    ports: body.ports ?? template?.ports ?? [],
    gpuIds: gpu ? [gpu.id] : [],
    gpuCount: count,
    cpuId: cpu?.id ?? null,
    vcpuCount: cpu?.vcpuCount ?? Math.max(9, gpu?.minVcpuCountPerGpu ?? 0) * count,
    memoryGb: cpu ? cpu.vcpuCount * 2 : Math.max(50, gpu?.minRamPerGpu ?? 0) * count,
    clouds: [body.cloud ?? 'SECURE'],
    dataCenterIds: network ? [network.dataCenterId] : (body.dataCenterIds ?? []),
    countryCode: null,
    diskGb: body.disk ?? template?.diskGb ?? 20,
    volumeGb: mounts?.persistent?.size ?? 0,
    volumePath: mounts?.persistent?.path ?? '/workspace',
    networkVolume: mounts?.network?.[0] ?? null,
    globalVolume: mounts?.global?.[0] ?? null,
    registryId: body.registry ?? null,
    allowedCudaVersions: gpu?.allowedCudaVersions ?? [],
    minCudaVersion: gpu?.minCudaVersion ?? null,
    globalNetworking: body.globalNetworking ?? false,
    bidMicroUsdPerGpu: null,
    stopAfterMs: null,
    terminateAfterMs: null,
  };
}

function refuseContradictions({ catalogue, knobs, globalVolumes }: Account, body: PodCreate): void {
  const { gpu, cpu, mounts, dataCenterIds = [] } = body;
  if ((gpu === undefined) === (cpu === undefined)) {
    throw new Problem(400, 'exactly one of gpu and cpu must be given');
  }
  if (gpu?.allowedCudaVersions?.length && gpu.minCudaVersion) {
    throw new Problem(400, 'allowedCudaVersions and minCudaVersion exclude each other');
  }
  if (mounts?.persistent && mounts.network?.length) {
    throw new Problem(400, 'mounts.persistent and mounts.network exclude each other');
  }
  if (mounts?.global && !knobs.mountsGlobal) {
    throw new Problem(422, 'Request validation failed.', [
      "$.mounts: additional properties 'global' not allowed",
    ]);
  }
  if (cpu && mounts?.persistent) throw new Problem(400, 'a CPU pod has no persistent mount');
  if (cpu && !Number.isInteger(Math.log2(cpu.vcpuCount))) {
    throw new Problem(400, 'cpu.vcpuCount must be a power of two');
  }
  const known = catalogue.dataCenters.map(({ id }) => id);
  const strange = dataCenterIds.find((id) => !known.includes(id));
  if (strange) throw new Problem(400, `unknown data center "${strange}"; valid: ${known.join(', ')}`);
  for (const { volumeId } of mounts?.global ?? []) {
    if (!globalVolumes.has(volumeId)) throw new Problem(404, 'global volume not found');
  }
}

function networkVolumeOf(account: Account, mounts: PodCreate['mounts']) {
  const id = mounts?.network?.[0]?.volumeId;
  if (id === undefined) return null;
  const volume = account.networkVolumes.get(id);
  if (!volume) throw new Problem(404, 'network volume not found');
  return volume;
}

function templateOf(account: Account, id: string | undefined): Template | null {
  if (id === undefined) return null;
  const template = account.templates.get(id);
  if (!template) throw new Problem(404, 'template not found');
  if (template.serverless) throw new Problem(422, 'a serverless template cannot make a pod');
  return template;
}

/** `args` and the pair of lists say the same in two ways; both may be given only if they agree. */
function commandOf(body: PodCreate, template: Template | null) {
  const { entrypoint, cmd } = body;
  const joined = entrypoint || cmd ? JSON.stringify({ entrypoint: entrypoint ?? [], cmd: cmd ?? [] }) : null;
  if (joined !== null && body.args !== undefined && body.args !== joined) {
    throw new Problem(400, 'args and cmd/entrypoint differ');
  }
  const args = joined ?? body.args ?? template?.args ?? '';
  return { args, ...parseDockerArgs(args) };
}
