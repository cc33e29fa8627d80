import { describe, expect, it } from 'vitest';
import type { RentedMachine } from '../port.ts';
import { buildGraphqlCreate, buildRestCreate } from './build-create.ts';
import { rentedMachine, rentRequest } from './rent-kit.ts';
import { type Constraints, rentSteps } from './rent-steps.ts';

const NONE: Constraints = { dataCenters: [], minVcpu: 0, minMemoryGb: 0 };
const SPOT = { ...rentedMachine().offer, spot: true, priceUsdPerHour: 0.24 };
const COMMUNITY = { ...rentedMachine().offer, cloud: 'community' as const };

function plan(changes: Partial<RentedMachine> = {}, constraints = NONE, withGlobalVolume = true) {
  const machine = rentedMachine(changes);
  return { request: rentRequest(machine), machine, constraints, withGlobalVolume };
}

function graphql(...args: Parameters<typeof plan>) {
  const { body } = buildGraphqlCreate(plan(...args));
  const { query, variables } = body as { query: string; variables: { input: Record<string, unknown> } };
  return { query, input: variables.input };
}
const rest = (...args: Parameters<typeof plan>) =>
  buildRestCreate(plan(...args)).body as Record<string, unknown>;

describe('a create on GraphQL', () => {
  it('asks_for_one_card_with_disk_CUDA_floor_and_a_time_at_which_the_pod_ends', () => {
    const { query, input } = graphql();
    expect(query).toContain('podFindAndDeployOnDemand(input: $input)');
    expect(input).toMatchObject({
      ...{ cloudType: 'SECURE', gpuTypeId: 'NVIDIA A40', gpuCount: 1, name: 'cluster-ocr-1a2b3c4d' },
      ...{
        imageName: 'pagefleet/gateway:test',
        containerDiskInGb: 40,
        volumeInGb: 0,
        minCudaVersion: '12.4',
      },
      ...{ volumeMountPath: '/workspace', ports: '8000/tcp', terminateAfter: '2025-12-01T00:00:00.000Z' },
    });
    for (const name of ['bidPerGpu', 'dataCenterId', 'supportPublicIp', 'networkVolumeId', 'objectMounts'])
      expect(input).not.toHaveProperty(name);
    expect(graphql({ minCuda: null }).input).not.toHaveProperty('minCudaVersion');
  });

  it('bids_for_spot_per_GPU_and_never_below_the_floor (R-056)', () => {
    const bid = (bidUsdPerGpuHour: number | null) => graphql({ offer: SPOT, bidUsdPerGpuHour });
    expect(bid(0.3).query).toContain('podRentInterruptable(input: $input)');
    expect(bid(0.3).query).toContain('$input: PodRentInterruptableInput!');
    expect(bid(0.3).input.bidPerGpu).toBe(0.3);
    expect(bid(0.1).input.bidPerGpu).toBe(0.24);
    expect(bid(null).input.bidPerGpu).toBe(0.24);
  });

  it('always_sends_a_command (contract 8, row 33)', () => {
    expect(graphql().input.dockerArgs).toBe(' ');
    expect(graphql({ startCommand: ['sh', '-c', 'run "x"'] }).input.dockerArgs).toBe(
      '{"cmd":["sh","-c","run \\"x\\""]}',
    );
    expect(graphql({ entrypoint: ['python3'], startCommand: ['-c', 'x'] }).input.dockerArgs).toBe(
      '{"cmd":["-c","x"],"entrypoint":["python3"]}',
    );
  });

  it('tells_the_pod_everything_but_its_id', () => {
    const env = graphql().input.env as { key: string; value: string }[];
    const keys = env.map(({ key }) => key);
    expect(keys).toContain('PAGEFLEET_POD_TOKEN');
    expect(keys).toContain('PAGEFLEET_POD_POD_KEY');
    expect(keys).not.toContain('PAGEFLEET_POD_POD_ID');
    expect(keys.length).toBeLessThanOrEqual(50);
    expect(env).toContainEqual({ key: 'PAGEFLEET_POD_NAME', value: 'cluster-ocr-1a2b3c4d' });
  });

  it('tells_the_pod_what_the_operator_adds_and_ours_is_never_overruled', () => {
    const further = ['HF_TOKEN={{ RUNPOD_SECRET_hf }}', 'ARGS=--a=b', 'PAGEFLEET_POD_NAME=other'];
    const env = graphql({ env: further }).input.env as { key: string; value: string }[];
    expect(env).toContainEqual({ key: 'HF_TOKEN', value: '{{ RUNPOD_SECRET_hf }}' });
    expect(env).toContainEqual({ key: 'ARGS', value: '--a=b' });
    expect(env.filter(({ key }) => key === 'PAGEFLEET_POD_NAME')).toEqual([
      { key: 'PAGEFLEET_POD_NAME', value: 'cluster-ocr-1a2b3c4d' },
    ]);
  });

  it('asks_a_community_host_for_a_public_IP_where_pods_are_reached_directly', () => {
    expect(graphql({ offer: COMMUNITY }).input).toMatchObject({
      cloudType: 'COMMUNITY',
      supportPublicIp: true,
    });
    const { input } = graphql({ offer: COMMUNITY, transport: 'proxy' });
    expect(input).toMatchObject({ ports: '8000/http' });
    expect(input).not.toHaveProperty('supportPublicIp');
  });

  it('carries_volumes_credential_and_constraints', () => {
    const changes = {
      networkVolume: 'nv_1',
      globalVolume: 'gsb_1',
      registryAuth: 'reg_1',
      volumePath: '/models',
    };
    const constraints = { dataCenters: ['EU-SE-1'], minVcpu: 4, minMemoryGb: 24 };
    expect(graphql(changes, constraints).input).toMatchObject({
      ...{ networkVolumeId: 'nv_1', containerRegistryAuthId: 'reg_1', volumeMountPath: '/models' },
      objectMounts: [{ objectStoreId: 'gsb_1', mountPath: '/models' }],
      ...{ dataCenterId: 'EU-SE-1', minVcpuCount: 4, minMemoryInGb: 24 },
    });
    expect(graphql(changes, constraints, false).input).not.toHaveProperty('objectMounts');
  });
});

describe('a create on REST v2', () => {
  it('always_says_how_many_cards (contract 8, row 34)', () => {
    expect(rest()).toMatchObject({
      ...{ name: 'cluster-ocr-1a2b3c4d', image: 'pagefleet/gateway:test', cloud: 'SECURE', disk: 40 },
      gpu: { id: 'NVIDIA A40', count: 1, minCudaVersion: '12.4' },
      ports: ['8000/tcp'],
    });
    for (const name of ['mounts', 'cmd', 'entrypoint', 'registry', 'dataCenterIds'])
      expect(rest()).not.toHaveProperty(name);
    expect(rest().env).toMatchObject({ PAGEFLEET_POD_NAME: 'cluster-ocr-1a2b3c4d' });
  });

  it('carries_volumes_credential_command_and_constraints', () => {
    const changes = {
      networkVolume: 'nv_1',
      globalVolume: 'gsb_1',
      registryAuth: 'reg_1',
      entrypoint: ['env'],
      startCommand: ['run'],
    };
    const constraints = { dataCenters: ['EU-SE-1', 'EU-NL-1'], minVcpu: 4, minMemoryGb: 24 };
    expect(rest(changes, constraints)).toMatchObject({
      gpu: { minVcpuCountPerGpu: 4, minRamPerGpu: 24 },
      ...{ dataCenterIds: ['EU-SE-1', 'EU-NL-1'], entrypoint: ['env'], cmd: ['run'], registry: 'reg_1' },
      mounts: {
        network: [{ volumeId: 'nv_1', path: '/workspace' }],
        global: [{ volumeId: 'gsb_1', path: '/workspace' }],
      },
    });
    expect(rest(changes, constraints, false).mounts).toEqual({
      network: [{ volumeId: 'nv_1', path: '/workspace' }],
    });
  });
});

describe('what is given up, step by step (contract 8, rows 1 and 3)', () => {
  const bounded = { dataCenters: ['A', 'B'], minVcpu: 4, minMemoryGb: 24 };
  const bounds = { minVcpu: 4, minMemoryGb: 24 };

  it('is_the_data_centre_first_and_then_processors_and_memory', () => {
    const rest = [{ dataCenters: [], ...bounds }, NONE];
    expect(rentSteps(rentedMachine(bounded), 'graphql')).toEqual([
      { dataCenters: ['A'], ...bounds },
      { dataCenters: ['B'], ...bounds },
      ...rest,
    ]);
    expect(rentSteps(rentedMachine(bounded), 'rest')).toEqual([
      { dataCenters: ['A', 'B'], ...bounds },
      ...rest,
    ]);
  });

  it('is_nothing_where_nothing_was_asked', () => {
    expect(rentSteps(rentedMachine(), 'graphql')).toEqual([NONE]);
  });

  it('community_pods_and_those_of_a_network_volume_are_pinned_nowhere', () => {
    const places = { dataCenters: ['A'] };
    expect(rentSteps(rentedMachine({ ...places, offer: COMMUNITY }), 'graphql')).toEqual([NONE]);
    expect(rentSteps(rentedMachine({ ...places, networkVolume: 'nv' }), 'rest')).toEqual([NONE]);
  });

  it('a_long_list_of_data_centres_does_not_eat_the_budget', () => {
    const dataCenters = Array.from({ length: 64 }, (_, n) => `DC-${n}`);
    expect(rentSteps(rentedMachine({ dataCenters }), 'graphql')).toHaveLength(5);
  });
});
