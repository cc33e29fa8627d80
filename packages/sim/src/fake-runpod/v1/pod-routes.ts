import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { takePodKnobs } from '../account.ts';
import { type Answer, CUT, json, NO_CONTENT } from '../http/answer.ts';
import type { Catalogue } from '../table/catalogue.ts';
import type { PodRecord, PodRequest } from '../table/pod-record.ts';
import { v1Pod } from './pod-view.ts';
import { type V1Request, type V1Route, v1Error } from './serve-v1.ts';

const strings = Type.Array(Type.String());
const o = Type.Optional;

const PodCreate = Type.Object(
  {
    name: o(Type.String({ maxLength: 191 })),
    imageName: o(Type.String()),
    computeType: o(Type.Enum(['GPU', 'CPU'])),
    cloudType: o(Type.Enum(['SECURE', 'COMMUNITY'])),
    gpuTypeIds: o(strings),
    gpuTypePriority: o(Type.String()),
    gpuCount: o(Type.Integer({ minimum: 1 })),
    dataCenterIds: o(strings),
    dataCenterPriority: o(Type.String()),
    countryCodes: o(strings),
    containerDiskInGb: o(Type.Integer()),
    volumeInGb: o(Type.Integer()),
    volumeMountPath: o(Type.String()),
    ports: o(strings),
    env: o(Type.Record(Type.String(), Type.String())),
    dockerEntrypoint: o(strings),
    dockerStartCmd: o(strings),
    minRAMPerGPU: o(Type.Integer()),
    minVCPUPerGPU: o(Type.Integer()),
    minDiskBandwidthMBps: o(Type.Number()),
    minDownloadMbps: o(Type.Number()),
    minUploadMbps: o(Type.Number()),
    supportPublicIp: o(Type.Boolean()),
    interruptible: o(Type.Boolean()),
    locked: o(Type.Boolean()),
    globalNetworking: o(Type.Boolean()),
    networkVolumeId: o(Type.Union([Type.String(), Type.Null()])),
    templateId: o(Type.Union([Type.String(), Type.Null()])),
    containerRegistryAuthId: o(Type.Union([Type.String(), Type.Null()])),
    allowedCudaVersions: o(strings),
    cpuFlavorIds: o(strings),
    cpuFlavorPriority: o(Type.String()),
    vcpuCount: o(Type.Integer()),
  },
  { additionalProperties: false },
);
type PodCreate = Static<typeof PodCreate>;
const podCreate = Compile(PodCreate);

const CAPACITY = 'create pod: There are no instances available with the requested specifications.';

export const V1_POD_ROUTES: readonly V1Route[] = [
  { method: 'GET', pattern: '/pods', handler: listPods },
  { method: 'POST', pattern: '/pods', handler: createPod },
  {
    method: 'GET',
    pattern: '/pods/{id}',
    handler: (request) => withPod(request, (pod) => show(request, pod)),
  },
  { method: 'DELETE', pattern: '/pods/{id}', handler: endPod },
  {
    method: 'POST',
    pattern: '/pods/{id}/stop',
    handler: (request) =>
      withPod(request, (pod) => {
        if (pod.state === 'running') request.service.cloud.stop(pod);
        return show(request, pod);
      }),
  },
  {
    method: 'POST',
    pattern: '/pods/{id}/start',
    handler: (request) =>
      withPod(request, async (pod) =>
        (await request.service.cloud.start(pod))
          ? show(request, pod)
          : v1Error(500, 'There are not enough free GPUs on the host machine to start this pod.'),
      ),
  },
  // It answers 200 and does nothing, as was seen.
  {
    method: 'POST',
    pattern: '/pods/{id}/restart',
    handler: (request) => withPod(request, (pod) => show(request, pod)),
  },
];

async function listPods({ service, query }: V1Request): Promise<Answer> {
  const { name, desiredStatus } = Object.fromEntries(query);
  const pods = service.cloud.visible().map((pod) => v1Pod(service, pod, query));
  return json(
    200,
    pods.filter(
      (pod) => (name ?? pod.name) === pod.name && (desiredStatus ?? pod.desiredStatus) === pod.desiredStatus,
    ),
  );
}

async function createPod(request: V1Request): Promise<Answer> {
  const { service, body } = request;
  if (!podCreate.Check(body)) {
    const extra = podCreate.Errors(body).some(({ keyword }) => keyword === 'additionalProperties');
    return v1Error(400, extra ? 'Extra input keys provided in request body' : 'invalid request body');
  }
  const asked = parseCreate(service.account.catalogue, body as PodCreate);
  if (asked === null) return v1Error(400, 'imageName is required');
  const knobs = takePodKnobs(service.account);
  if (knobs.answer === 'supply-constraint' || knobs.answer === 'bare-null') return v1Error(500, CAPACITY);
  if (knobs.answer === 'server-error') return v1Error(500, 'Something went wrong.');
  if (knobs.answer === 'cut') return CUT;
  const result = await service.cloud.create(asked, knobs);
  if ('refused' in result) {
    return result.refused === 'no-capacity'
      ? v1Error(500, CAPACITY)
      : v1Error(400, 'You are over your current spending limit.');
  }
  await service.clock.sleep(knobs.answerDelayMs);
  if (knobs.answer === 'created-then-cut') return CUT;
  if (knobs.answer !== 'normal') return v1Error(500, 'Something went wrong.');
  return json(201, v1Pod(service, result.pod, request.query));
}

/** Only the first card is tried: a list of several is not walked reliably there. */
function parseCreate(catalogue: Catalogue, body: PodCreate): PodRequest | null {
  if (!body.imageName) return null;
  const count = body.gpuCount ?? 1;
  const cpu = body.computeType === 'CPU' ? (body.cpuFlavorIds?.[0] ?? 'cpu3c') : null;
  const { dockerEntrypoint: entrypoint = [], dockerStartCmd: cmd = [] } = body;
  return {
    name: body.name ?? 'my pod',
    image: body.imageName,
    templateId: body.templateId ?? null,
    dockerArgs: entrypoint.length + cmd.length > 0 ? JSON.stringify({ entrypoint, cmd }) : '',
    entrypoint,
    cmd,
    env: body.env ?? {},
    ports: body.ports ?? ['8888/http', '22/tcp'],
    gpuIds: cpu === null ? (body.gpuTypeIds?.slice(0, 1) ?? []) : [],
    gpuCount: cpu === null ? count : 0,
    cpuId: cpu,
    vcpuCount: cpu === null ? Math.max(9, body.minVCPUPerGPU ?? 2) * count : (body.vcpuCount ?? 2),
    memoryGb: Math.max(50, body.minRAMPerGPU ?? 8) * count,
    clouds: [body.cloudType ?? 'SECURE'],
    dataCenterIds: body.dataCenterIds ?? [],
    countryCode: body.countryCodes?.[0] ?? null,
    diskGb: body.containerDiskInGb ?? 50,
    volumeGb: body.volumeInGb ?? 20,
    volumePath: body.volumeMountPath ?? '/workspace',
    networkVolume: null,
    globalVolume: null,
    registryId: body.containerRegistryAuthId ?? null,
    allowedCudaVersions: body.allowedCudaVersions ?? [],
    minCudaVersion: null,
    globalNetworking: body.globalNetworking ?? false,
    bidMicroUsdPerGpu: body.interruptible ? dearestSpot(catalogue, body) : null,
    stopAfterMs: null,
    terminateAfterMs: null,
  };
}

/** v1 has no bid: it pays what spot costs. */
function dearestSpot({ cells }: Catalogue, { gpuTypeIds = [], cloudType = 'SECURE' }: PodCreate): number {
  const own = cells.filter(({ gpuId, cloud }) => gpuId === gpuTypeIds[0] && cloud === cloudType);
  return Math.max(0, ...own.flatMap((cell) => cell.spotMicroUsdPerHour ?? []));
}

async function endPod({ service, params }: V1Request): Promise<Answer> {
  const outcome = service.cloud.end(params.id ?? '');
  if (outcome === 'not-found') return v1Error(404, 'pod not found');
  return outcome === 'failed' ? v1Error(500, 'Something went wrong.') : NO_CONTENT;
}

async function withPod(
  { service, params }: V1Request,
  act: (pod: PodRecord) => Answer | Promise<Answer>,
): Promise<Answer> {
  const pod = service.cloud.find(params.id ?? '');
  return pod === null ? v1Error(404, 'pod not found') : act(pod);
}

function show({ service, query }: V1Request, pod: PodRecord): Answer {
  return json(200, v1Pod(service, pod, query));
}
