/**
 * Defaults of a pool that rents on RunPod, where they differ from a local pool's: a boot takes about 700 s there, image
 * pull included, so a pod is given more time and kept for as long as renting it again would take.
 */
const RUNPOD_DEFAULTS = {
  boot_deadline: '20m',
  boot_estimate: '700s',
  idle_timeout: '700s',
} as const;

/** Lays the provider's defaults under what was written of each pool. Whatever is not a pool is left to the reader. */
export function withProviderDefaults(tree: unknown): unknown {
  if (!isTree(tree) || !Array.isArray(tree.pools)) return tree;
  const pools = tree.pools.map((pool: unknown) =>
    isTree(pool) && pool.provider === 'runpod' ? { ...RUNPOD_DEFAULTS, ...pool } : pool,
  );
  return { ...tree, pools };
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
