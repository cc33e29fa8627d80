import type { Service } from '../service.ts';
import { usd } from '../table/catalogue.ts';
import { observePod } from '../table/observe-pod.ts';
import type { PodRecord, PortMapping } from '../table/pod-record.ts';

/** A pod as GraphQL shows it. */
export function graphqlPod(service: Service, pod: PodRecord) {
  const { request, knobs } = pod;
  return {
    id: pod.id,
    name: request.name,
    desiredStatus: desiredStatus(pod),
    lastStatusChange: pod.lastStatusChange,
    lastStartedAt: new Date(pod.startedAtMs).toISOString(),
    createdAt: new Date(pod.createdAtMs).toISOString(),
    terminatedAt: pod.state === 'terminated' ? new Date(pod.stateChangedAtMs).toISOString() : null,
    // For ever 0; the real figure is in `runtime`.
    uptimeSeconds: 0,
    costPerHr: usd(pod.microUsdPerHour),
    imageName: request.image,
    dockerArgs: request.dockerArgs,
    dockerId: null,
    env: Object.entries(request.env).map(([key, value]) => `${key}=${value}`),
    gpuCount: request.gpuCount,
    vcpuCount: request.vcpuCount,
    memoryInGb: request.memoryGb,
    containerDiskInGb: request.diskGb,
    volumeInGb: request.volumeGb,
    volumeMountPath: request.volumePath,
    ports: request.ports.join(','),
    port: null,
    podType: request.bidMicroUsdPerGpu === null ? 'RESERVED' : 'INTERRUPTABLE',
    machineId: pod.machineId,
    templateId: request.templateId ?? '',
    networkVolumeId: request.networkVolume?.volumeId ?? '',
    clusterIp: null,
    locked: pod.locked,
    machine: machineOf(service, pod),
    latestTelemetry: knobs.neverBoots
      ? null
      : { state: 'running', time: new Date(service.clock.nowMs()).toISOString() },
    runtime: () => runtimeOf(service, pod),
  };
}

export function desiredStatus({
  state,
  knobs,
  lastStatusChange,
}: PodRecord): 'RUNNING' | 'EXITED' | 'TERMINATED' {
  if (state === 'running') return 'RUNNING';
  const outbid = lastStatusChange.startsWith('Outbid');
  return state === 'terminated' || (outbid && knobs.outbidLook === 'terminated') ? 'TERMINATED' : 'EXITED';
}

function machineOf({ account }: Service, pod: PodRecord) {
  const center = account.catalogue.dataCenters.find(({ id }) => id === pod.dataCenterId);
  return {
    podHostId: pod.podHostId,
    gpuTypeId: pod.gpuId,
    gpuDisplayName: account.catalogue.gpus.find(({ id }) => id === pod.gpuId)?.displayName ?? null,
    location: center?.countryCode ?? null,
    dataCenterId: pod.dataCenterId,
    secureCloud: pod.cloud === 'SECURE',
    costPerHr: usd(pod.microUsdPerHour),
    cudaVersion: pod.cudaVersion,
  };
}

/** Whether `runtime` is shown in this read; reading uses up a read that shows none. */
export function readRuntime({ clock, account }: Service, pod: PodRecord): { uptimeMs: number } | null {
  const now = observePod(pod, clock.nowMs());
  if (!now.containerUp && !(pod.state === 'exited' && account.knobs.staleRuntime)) return null;
  if (pod.knobs.nullRuntimeReads > 0) {
    pod.knobs.nullRuntimeReads -= 1;
    return null;
  }
  return { uptimeMs: now.uptimeMs };
}

export const CGNAT_IP = '100.65.21.7';
export const PUBLIC_IP = '127.0.0.1';

function runtimeOf(service: Service, pod: PodRecord) {
  const runtime = readRuntime(service, pod);
  if (runtime === null) return null;
  return {
    uptimeInSeconds: Math.floor(runtime.uptimeMs / 1000),
    ports: pod.ports.map(portOf),
    gpus: Array.from({ length: pod.gpuId === null ? 0 : pod.request.gpuCount }, (_, index) => ({
      id: `GPU-${pod.machineId}-${index}`,
      gpuUtilPercent: 0,
      memoryUtilPercent: 0,
    })),
    container: { cpuPercent: 1, memoryPercent: 1 },
  };
}

function portOf({ private: privatePort, public: publicPort, type }: PortMapping) {
  const tcp = type === 'tcp';
  return { ip: tcp ? PUBLIC_IP : CGNAT_IP, isIpPublic: tcp, privatePort, publicPort, type };
}
