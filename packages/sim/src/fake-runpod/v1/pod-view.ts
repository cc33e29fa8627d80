import { desiredStatus, PUBLIC_IP, readRuntime } from '../graphql/pod-view.ts';
import type { Service } from '../service.ts';
import { usd } from '../table/catalogue.ts';
import type { PodRecord } from '../table/pod-record.ts';

/** A pod as REST v1 shows it. */
export function v1Pod(service: Service, pod: PodRecord, query: URLSearchParams) {
  const { request } = pod;
  const up = readRuntime(service, pod) !== null;
  const tcp = pod.ports.filter(({ type }) => type === 'tcp');
  return {
    id: pod.id,
    name: request.name,
    desiredStatus: desiredStatus(pod),
    imageName: request.image,
    costPerHr: usd(pod.microUsdPerHour),
    gpuCount: request.gpuCount,
    vcpuCount: request.vcpuCount,
    memoryInGb: request.memoryGb,
    containerDiskInGb: request.diskGb,
    volumeInGb: request.volumeGb,
    volumeMountPath: request.volumePath,
    ports: request.ports,
    publicIp: up ? PUBLIC_IP : '',
    portMappings: up ? Object.fromEntries(tcp.map((port) => [port.private, port.public])) : null,
    env: request.env,
    templateId: request.templateId ?? '',
    networkVolumeId: request.networkVolume?.volumeId ?? '',
    consumerUserId: 'user_fake',
    machineId: pod.machineId,
    machine:
      query.get('includeMachine') === 'true'
        ? {
            gpuTypeId: pod.gpuId,
            dataCenterId: pod.dataCenterId,
            location: pod.dataCenterId.slice(0, 2),
            secureCloud: pod.cloud === 'SECURE',
            costPerHr: usd(pod.microUsdPerHour),
          }
        : {},
    createdAt: goTime(pod.createdAtMs),
    lastStartedAt: goTime(pod.startedAtMs),
    lastStatusChange: pod.lastStatusChange,
    interruptible: request.bidMicroUsdPerGpu !== null,
    ...(service.account.knobs.unknownFields ? { adjustedCostPerHr: 0 } : {}),
  };
}

/** Go's default form: a blank for the T, and as many digits of the fraction as it has. */
function goTime(ms: number): string {
  const [date = '', time = ''] = new Date(ms).toISOString().split('T');
  return `${date} ${time.replace(/\.?0*Z$/, '')} +0000 UTC`;
}
