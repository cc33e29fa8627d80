import { takePodKnobs } from '../account.ts';
import { type Answer, CUT, html, json, NO_CONTENT } from '../http/answer.ts';
import type { PodRecord } from '../table/pod-record.ts';
import { checkBody } from './check-body.ts';
import { paginate } from './paginate.ts';
import { PodAction, PodCreate, PodPatch } from './pod-body.ts';
import { parsePodCreate } from './pod-request.ts';
import { v2Pod, v2Status } from './pod-view.ts';
import { CAPACITY_DETAIL, Problem } from './problem.ts';
import type { V2Request, V2Route } from './serve-v2.ts';
import { streamLogs } from './stream-logs.ts';

export const POD_ROUTES: readonly V2Route[] = [
  { method: 'GET', pattern: '/pods', handler: listPods },
  { method: 'POST', pattern: '/pods', handler: createPod },
  { method: 'GET', pattern: '/pods/{id}', handler: async (request) => show(request, podOf(request)) },
  { method: 'PATCH', pattern: '/pods/{id}', handler: patchPod },
  { method: 'DELETE', pattern: '/pods/{id}', handler: async (request) => endPod(request) },
  { method: 'POST', pattern: '/pods/{id}/action', handler: actOnPod },
  { method: 'GET', pattern: '/pods/{id}/logs', handler: streamLogs },
];

async function listPods(request: V2Request): Promise<Answer> {
  const { service } = request;
  const { items, ...pagination } = paginate(request, service.cloud.visible());
  return json(200, { pods: items.map((pod) => v2Pod(service, pod)), ...pagination });
}

async function createPod({ service, body }: V2Request): Promise<Answer> {
  const { account, cloud, clock } = service;
  const asked = parsePodCreate(account, checkBody(PodCreate, body));
  const knobs = takePodKnobs(account);
  if (knobs.answer === 'supply-constraint' || knobs.answer === 'bare-null')
    throw new Problem(400, CAPACITY_DETAIL);
  if (knobs.answer === 'server-error') return html(500);
  if (knobs.answer === 'cut') return CUT;
  const result = await cloud.create(asked, knobs);
  if ('refused' in result) {
    if (result.refused === 'no-capacity') throw new Problem(400, CAPACITY_DETAIL);
    if (result.refused === 'no-balance') throw new Problem(402, 'account balance is too low');
    throw new Problem(400, 'You are over your current spending limit.');
  }
  await clock.sleep(knobs.answerDelayMs);
  if (knobs.answer === 'created-then-cut') return CUT;
  if (knobs.answer === 'created-then-500') return html(500);
  if (knobs.answer !== 'normal') throw new Problem(500, 'internal server error');
  return json(201, v2Pod(service, result.pod));
}

async function patchPod(request: V2Request): Promise<Answer> {
  const pod = podOf(request);
  const patch = checkBody(PodPatch, request.body);
  if (patch.mounts?.network?.length === 0) throw new Problem(400, 'mounts.network may not be empty');
  const before = pod.request;
  pod.locked = patch.locked ?? pod.locked;
  pod.request = {
    ...before,
    name: patch.name ?? before.name,
    image: patch.image ?? before.image,
    dockerArgs: patch.args ?? before.dockerArgs,
    cmd: patch.cmd ?? before.cmd,
    entrypoint: patch.entrypoint ?? before.entrypoint,
    diskGb: patch.disk ?? before.diskGb,
    ports: patch.ports ?? before.ports,
    env: patch.env ?? before.env,
    registryId: patch.registry === undefined ? before.registryId : patch.registry,
    globalNetworking: patch.globalNetworking ?? before.globalNetworking,
  };
  if (patch.ports) await request.service.cloud.allotPorts(pod);
  // A new name leaves the container alone; what it runs with does not.
  if (patch.image !== undefined || patch.env !== undefined) request.service.cloud.restart(pod);
  else request.service.cloud.save(pod);
  return show(request, pod);
}

function endPod({ service, params }: V2Request): Answer {
  const outcome = service.cloud.end(params.id ?? '');
  if (outcome === 'not-found') throw new Problem(404, 'pod not found');
  if (outcome === 'failed') throw new Problem(500, 'internal server error');
  return NO_CONTENT;
}

async function actOnPod(request: V2Request): Promise<Answer> {
  const { cloud } = request.service;
  const { action } = checkBody(PodAction, request.body);
  const pod = podOf(request);
  if (action === 'terminate') return endPod(request);
  const status = v2Status(request.service, pod);
  const running = status !== 'EXITED';
  if (action === 'stop' && running && !pod.locked) cloud.stop(pod);
  else if (action === 'restart' && status === 'RUNNING') cloud.restart(pod);
  else if (action === 'start' && status === 'EXITED') {
    if (!(await cloud.start(pod))) throw new Problem(400, CAPACITY_DETAIL);
  } else throw new Problem(409, `cannot ${action} a pod that is ${pod.locked ? 'locked' : status}`);
  return show(request, pod);
}

function podOf({ service, params }: V2Request): PodRecord {
  const pod = service.cloud.find(params.id ?? '');
  if (pod === null) throw new Problem(404, 'pod not found');
  return pod;
}

function show({ service }: V2Request, pod: PodRecord): Answer {
  return json(200, v2Pod(service, pod));
}
