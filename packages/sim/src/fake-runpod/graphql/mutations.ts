import { takePodKnobs } from '../account.ts';
import { CUT, html } from '../http/answer.ts';
import { microUsd } from '../table/catalogue.ts';
import type { PodRecord } from '../table/pod-record.ts';
import { createCollectionMutations } from './collection-mutations.ts';
import { type DeployInput, parseDeploy, splitPorts } from './deploy-input.ts';
import { catchAll, graphqlFault, noCapacity, unauthorized } from './graphql-fault.ts';
import { graphqlPod } from './pod-view.ts';
import { USER_ID } from './queries.ts';
import type { GraphqlContext } from './serve-graphql.ts';

interface Of<T> {
  readonly input: T;
}

interface EditInput {
  readonly podId: string;
  readonly imageName?: string | null;
  readonly dockerArgs?: string | null;
  readonly env?: readonly { readonly key: string; readonly value: string }[] | null;
  readonly ports?: string | null;
}

export function createMutations(context: GraphqlContext) {
  const { service, call } = context;
  const { cloud } = service;
  const deploy = (input: DeployInput, spot: boolean) => {
    requireWriter(context);
    return deployPod(context, input, spot);
  };
  const podOf = (id: string): PodRecord => {
    requireWriter(context);
    const pod = cloud.find(id);
    if (pod === null) throw graphqlFault('pod not found');
    return pod;
  };
  const resume = async (pod: PodRecord, bid: number | null) => {
    if (!(await cloud.start(pod, bid))) {
      throw graphqlFault('There are not enough free GPUs on the host machine to start this pod.');
    }
    return graphqlPod(service, pod);
  };

  return {
    podFindAndDeployOnDemand: ({ input }: Of<DeployInput>) => deploy(input, false),
    podRentInterruptable: ({ input }: Of<DeployInput>) => deploy(input, true),
    deployCpuPod: ({ input }: Of<DeployInput>) => deploy(input, false),
    podStop({ input }: Of<{ podId: string }>) {
      const pod = podOf(input.podId);
      if (pod.state === 'running') cloud.stop(pod);
      return graphqlPod(service, pod);
    },
    podResume: ({ input }: Of<{ podId: string }>) => resume(podOf(input.podId), null),
    podBidResume: ({ input }: Of<{ podId: string; bidPerGpu: number }>) =>
      resume(podOf(input.podId), microUsd(input.bidPerGpu)),
    podTerminate({ input }: Of<{ podId: string }>) {
      const { caller } = call;
      if (!(caller.kind === 'pod' && caller.podId === input.podId)) requireWriter(context);
      const outcome = cloud.end(input.podId);
      if (outcome === 'not-found') throw graphqlFault('pod not found to terminate');
      if (outcome === 'failed') throw catchAll();
      return null;
    },
    podEditJob({ input }: Of<EditInput>) {
      const pod = podOf(input.podId);
      const { imageName, dockerArgs, env, ports } = input;
      pod.request = {
        ...pod.request,
        ...(imageName == null ? {} : { image: imageName }),
        ...(dockerArgs == null ? {} : { dockerArgs }),
        ...(env == null ? {} : { env: Object.fromEntries(env.map(({ key, value }) => [key, value])) }),
        ...(ports == null ? {} : { ports: splitPorts(ports) }),
      };
      cloud.restart(pod);
      return graphqlPod(service, pod);
    },
    ...createCollectionMutations(context, () => requireWriter(context)),
  };
}

function requireWriter({ call: { caller } }: GraphqlContext): void {
  if (caller.kind !== 'account' || !caller.mayWrite) throw unauthorized();
}

async function deployPod(context: GraphqlContext, input: DeployInput, spot: boolean) {
  const { service } = context;
  const knobs = takePodKnobs(service.account);
  if (knobs.answer === 'supply-constraint') throw noCapacity(USER_ID);
  if (knobs.answer === 'bare-null') return null;
  if (knobs.answer === 'server-error') {
    context.instead = html(500);
    return null;
  }
  if (knobs.answer === 'cut') {
    context.instead = CUT;
    return null;
  }
  const result = await service.cloud.create(parseDeploy(service.account, input, { spot }), knobs);
  if ('refused' in result) {
    if (result.refused === 'no-capacity') throw noCapacity(USER_ID);
    throw graphqlFault(
      result.refused === 'no-balance'
        ? 'Your account balance is too low to rent this pod.'
        : 'You are over your current spending limit. Please contact support to raise it.',
    );
  }
  await service.clock.sleep(knobs.answerDelayMs);
  switch (knobs.answer) {
    case 'created-then-internal-error':
      throw catchAll();
    case 'created-then-500':
      context.instead = html(500);
      return null;
    case 'created-then-cut':
      context.instead = CUT;
      return null;
    case 'created-then-null':
      return null;
    default:
      return graphqlPod(service, result.pod);
  }
}
