import { CGNAT_IP, desiredStatus, PUBLIC_IP, readRuntime } from '../graphql/pod-view.ts';
import type { Service } from '../service.ts';
import { usd } from '../table/catalogue.ts';
import { observePod } from '../table/observe-pod.ts';
import type { PodRecord } from '../table/pod-record.ts';

const ACTIONS = {
  PROVISIONING: ['stop', 'terminate'],
  STARTING: ['stop', 'terminate'],
  RUNNING: ['stop', 'restart', 'terminate'],
  EXITED: ['start', 'terminate'],
  TERMINATED: [],
} as const;
const INTERNAL_PORT = 19_123;

/** Bytes are placed within the first of these; then the container is starting. */
const PLACING_MS = 5_000;

export function v2Status(service: Service, pod: PodRecord): keyof typeof ACTIONS {
  const status = desiredStatus(pod);
  if (status !== 'RUNNING' || !pod.knobs.honestStatus) return status;
  const nowMs = service.clock.nowMs();
  if (observePod(pod, nowMs).containerUp) return 'RUNNING';
  return nowMs < pod.startedAtMs + PLACING_MS ? 'PROVISIONING' : 'STARTING';
}

/** A pod as REST v2 shows it. */
export function v2Pod(service: Service, pod: PodRecord): Record<string, unknown> {
  const { request, podHostId } = pod;
  const { unknownFields } = service.account.knobs;
  const status = v2Status(service, pod);
  return {
    id: pod.id,
    name: request.name,
    status,
    actions: ACTIONS[status],
    image: request.image,
    args: request.dockerArgs,
    entrypoint: request.entrypoint,
    cmd: request.cmd,
    disk: request.diskGb,
    mounts: mountsOf(pod),
    ports: request.ports,
    env: request.env,
    registry: request.registryId,
    ...(pod.gpuId === null
      ? { cpu: { id: request.cpuId, vcpuCount: request.vcpuCount, memory: request.memoryGb } }
      : {
          gpu: {
            id: pod.gpuId,
            count: request.gpuCount,
            vcpuCount: request.vcpuCount,
            memory: request.memoryGb,
          },
        }),
    cloud: pod.cloud,
    dataCenterId: pod.dataCenterId,
    cudaVersion: pod.cudaVersion,
    ssh: {
      proxy: {
        host: 'ssh.runpod.io',
        port: 22,
        username: podHostId,
        command: `ssh ${podHostId}@ssh.runpod.io`,
      },
      direct: null,
    },
    // A template is resolved once, at the create.
    template: null,
    cost: usd(pod.microUsdPerHour),
    locked: pod.locked,
    globalNetworking: request.globalNetworking
      ? { enabled: true, ip: '10.1.0.1', internalDns: `${pod.id}.runpod.internal` }
      : { enabled: false },
    runtime: runtimeOf(service, pod),
    createdAt: new Date(pod.createdAtMs).toISOString(),
    startedAt: new Date(pod.startedAtMs).toISOString(),
    ...(unknownFields ? { lastSeenBy: 'nobody', placement: { score: 0.5 } } : {}),
  };
}

function mountsOf({ request: { networkVolume, globalVolume, volumeGb, volumePath } }: PodRecord) {
  return {
    ...(networkVolume ? { network: [networkVolume] } : {}),
    ...(globalVolume ? { global: [globalVolume] } : {}),
    ...(volumeGb > 0 && !networkVolume ? { persistent: { size: volumeGb, path: volumePath } } : {}),
  };
}

function runtimeOf(service: Service, pod: PodRecord) {
  const runtime = readRuntime(service, pod);
  if (runtime === null) return null;
  const ports = pod.ports.map((port) => ({
    private: port.private,
    public: port.public,
    type: port.type,
    ip: port.type === 'tcp' ? PUBLIC_IP : CGNAT_IP,
  }));
  const internal = { private: INTERNAL_PORT, public: null, type: 'http', ip: CGNAT_IP };
  return {
    uptime: Math.floor(runtime.uptimeMs / 1000),
    gpus: Array.from({ length: pod.gpuId === null ? 0 : pod.request.gpuCount }, () => ({
      util: 0,
      memoryUtil: 0,
    })),
    cpu: { util: 1 },
    memory: { util: 1 },
    ports: service.account.knobs.internalPort ? [...ports, internal] : ports,
  };
}
