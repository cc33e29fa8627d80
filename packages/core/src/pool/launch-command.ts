import type { EngineProfile, Pool } from '@pagefleet/contract';

/** The model server of one pod, as it is started; host and port are added in the pod. */
export interface LaunchCommand {
  readonly command: readonly string[];
  /** `NAME=value` */
  readonly env: readonly string[];
}

export interface LaunchPool extends Pick<Pool, 'name' | 'models' | 'width' | 'vllm'> {}

/** The card whose tokens per step a profile states. */
const REFERENCE_GB = 24;

/**
 * Program and arguments of the model server of a pool. It answers to every name that leads to the pool, so that a chat
 * request passes as it came; the first is the one that its answers carry. As many replies run at once as the pod is wide:
 * a smaller number would be a queue that nobody counts. `memoryGb` is the card's; null: not known.
 */
export function launchCommand(
  profile: EngineProfile,
  pool: LaunchPool,
  memoryGb: number | null,
): LaunchCommand {
  const { launch } = profile;
  const { vllm } = pool;
  const batched = vllm.maxBatchedTokens || batchedTokens(profile, memoryGb);
  return {
    command: [
      ...vllm.command,
      vllm.model || profile.model,
      ...['--served-model-name', ...servedNames(profile, pool)],
      ...['--dtype', launch.dtype],
      ...['--max-model-len', String(vllm.maxModelLen || launch.maxModelLen)],
      ...['--gpu-memory-utilization', String(vllm.gpuMemoryUtilization || launch.gpuMemoryUtilization)],
      ...['--max-num-seqs', String(pool.width)],
      ...(batched === null ? [] : ['--max-num-batched-tokens', String(batched)]),
      ...(vllm.loras.length === 0
        ? []
        : ['--enable-lora', '--lora-modules', ...vllm.loras.map(({ name, path }) => `${name}=${path}`)]),
      ...launch.args,
      ...vllm.args,
    ],
    env: Object.entries(launch.env).map(([name, value]) => `${name}=${value}`),
  };
}

/** Names that lead to the model itself, without those of its adapters; never twice the same. */
export function servedNames(profile: EngineProfile, { name, models, vllm }: LaunchPool): readonly string[] {
  const adapters = new Set(vllm.loras.map((lora) => lora.name));
  return [...new Set([profile.servedName, ...models, name])].filter((one) => !adapters.has(one));
}

function batchedTokens({ launch }: EngineProfile, memoryGb: number | null): number | null {
  const { maxBatchedTokens } = launch;
  if (maxBatchedTokens === null) return null;
  if ('fixed' in maxBatchedTokens) return maxBatchedTokens.fixed;
  const share = (maxBatchedTokens.per24Gb * (memoryGb ?? REFERENCE_GB)) / REFERENCE_GB;
  return 2 ** Math.floor(Math.log2(Math.max(1, share)));
}
