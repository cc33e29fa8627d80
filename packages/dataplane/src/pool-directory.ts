import {
  type Config,
  isProfileName,
  modelNamesOf,
  PagefleetError,
  type SlicePool,
} from '@pagefleet/contract';

/** Which pool serves which model, and whether it takes pages now. */
export interface PoolDirectory {
  /** Throws `not_found` for a model nobody serves. */
  poolOf(model: string | null): string;
  /** The pool of a chat: one that has a model server, by a name that this knows. Throws `not_found`. */
  chatPoolOf(model: string): string;
  names(): readonly string[];
  suspendedUntilMs(pool: string): number;
  /** False only when the controller said so: not known is no "none". Their width may be with other workers for the moment. */
  mayHaveServingPods(pool: string): boolean;
  /** Renting is off for it: without a pod now it never has one. */
  cannotRent(pool: string): boolean;
  /** the pool that reads for it while it takes nothing; null = none */
  fallbackOf(pool: string): string | null;
  /** a lease of the key says `require: fleet`: no other pool reads for it */
  isFleetOnly(pool: string, key: string): boolean;
  apply(pools: readonly SlicePool[]): void;
}

/** The official client needs a model and its users leave the one it is documented with: it means the first pool. */
const MISTRAL_ALIAS = /^mistral-ocr(-|$)/;

export function createPoolDirectory(config: Config): PoolDirectory {
  let pools: readonly SlicePool[] = config.pools.map((pool) => ({
    name: pool.name,
    models: modelNamesOf(pool),
    suspendedUntilMs: 0,
  }));
  const withServer = new Set(
    config.pools.filter((pool) => isProfileName(pool.engine)).map(({ name }) => name),
  );
  const hasModelServer = ({ name }: SlicePool): boolean => withServer.has(name);
  const capped = new Set(config.pools.filter((pool) => pool.maxPods === 0).map((pool) => pool.name));

  function named(model: string): SlicePool | undefined {
    return pools.find((pool) => pool.name === model) ?? pools.find((pool) => pool.models.includes(model));
  }

  function unknown(model: string, serving: readonly SlicePool[]): PagefleetError {
    const known = serving.flatMap((pool) => [pool.name, ...pool.models]).join(', ') || 'none';
    return new PagefleetError('not_found', `no pool serves the model "${model}"; known are ${known}`, {
      details: { param: 'model' },
    });
  }

  function chatPoolOf(model: string): string {
    const pool = named(model);
    if (pool === undefined) throw unknown(model, pools.filter(hasModelServer));
    if (hasModelServer(pool)) return pool.name;
    const message = `the pool ${pool.name} reads pages and has no model server; send documents to /v1/ocr`;
    throw new PagefleetError('not_found', message, { details: { param: 'model' } });
  }

  function poolOf(model: string | null): string {
    const first = pools[0]?.name ?? 'ocr';
    if (model === null || model === '') return first;
    const pool = named(model);
    if (pool) return pool.name;
    if (MISTRAL_ALIAS.test(model)) return first;
    throw unknown(model, pools);
  }

  return {
    poolOf,
    chatPoolOf,
    names: () => pools.map((pool) => pool.name),
    suspendedUntilMs: (name) => pools.find((pool) => pool.name === name)?.suspendedUntilMs ?? 0,
    mayHaveServingPods: (name) => pools.find((pool) => pool.name === name)?.servingPods !== 0,
    cannotRent: (name) => capped.has(name),
    fallbackOf: (name) => config.pools.find((pool) => pool.name === name)?.fallback || null,
    isFleetOnly: (name, key) => pools.find((pool) => pool.name === name)?.fleetOnly?.includes(key) ?? false,
    apply(next) {
      if (next.length > 0) pools = next;
    },
  };
}
