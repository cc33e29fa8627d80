import { decide, isStaying, type Plan, type World } from '@pagefleet/core';
import type { Provider, RentOutcome } from '@pagefleet/providers';
import type { Outside } from '@pagefleet/sim';
import type { Sabotage } from './world-controller.ts';

/**
 * Rules broken on purpose, each as it was broken in the field, at the edge of the controller: nothing of production code
 * is touched.
 */
export const BROKEN_RULES = {
  /** contracts/runpod.md 8, no. 12: a create without an answer is taken for a refusal, so another pod is rented in its place */
  'an ambiguous create is rented again': {
    law: 'L1',
    sabotage: onProvider((provider) => ({
      ...provider,
      rent: async (request) => refusedIfLost(await provider.rent(request)),
    })),
  },
  'an ambiguous create is sent again under the same name': {
    law: 'one intent, one rent',
    sabotage: onProvider((provider) => ({
      ...provider,
      rent: async (request) => {
        const outcome = await provider.rent(request);
        return outcome.kind === 'ambiguous' ? provider.rent(request) : outcome;
      },
    })),
  },
  /** L5 */
  'gone by one listing': {
    law: 'L5',
    sabotage: onWorld((world) => ({
      ...world,
      listing: { newest: world.listing.newest, previous: world.listing.newest },
    })),
  },
  'gone by a stale listing': {
    law: 'L5',
    sabotage: onWorld((world) => {
      const { newest, previous } = world.listing;
      return { ...world, listing: { newest: newest && { ...newest, endedAtMs: world.nowMs }, previous } };
    }),
  },
  /** two A40s under a cap of one */
  'only healthy pods count against the cap': {
    law: 'L1',
    // Not shown to the laws of plans, which would name it first: money is counted where it is spent.
    sabotage: {
      decide: decideByTheHealthy,
      outside: (outside: Outside) => ({ ...outside, onDecided: () => undefined }),
    },
  },
  /** DESIGN 5: intent before money */
  'the intent is written but not synced before the call': {
    law: 'intent before money',
    sabotage: {
      outside: (outside: Outside): Outside => ({
        ...outside,
        disk: {
          ...outside.disk,
          openForWriting: async (path) => ({
            ...(await outside.disk.openForWriting(path)),
            datasync: () => Promise.resolve(),
          }),
        },
      }),
    },
  },
  /** a token minted anew at every start */
  'tokens are made from the newest key': {
    law: 'L7',
    sabotage: {
      outside: (outside: Outside): Outside => {
        const { secret } = outside;
        const newest = secret.keys[secret.current] ?? '';
        const keys = Object.fromEntries(Object.keys(secret.keys).map((id) => [id, newest]));
        return { ...outside, secret: { ...secret, keys } };
      },
    },
  },
} as const satisfies Record<string, { law: string; sabotage: Sabotage }>;

export type BrokenRule = keyof typeof BROKEN_RULES;

function onProvider(change: (provider: Provider) => Provider): Sabotage {
  return { outside: (outside) => ({ ...outside, provider: change(outside.provider) }) };
}

function onWorld(change: (world: World) => World): Sabotage {
  return { decide: (world) => decide(change(world)) };
}

function refusedIfLost(outcome: RentOutcome): RentOutcome {
  if (outcome.kind !== 'ambiguous') return outcome;
  return { kind: 'refused', fault: 'no-capacity', reason: 'no answer' };
}

/** What leaves and what changes is decided as it should be; what is rented, as if only serving pods were there. */
function decideByTheHealthy(world: World): Plan {
  const plan = decide(world);
  const isHealthy = (key: string) => world.registry.get(key)?.state === 'serving';
  const registry = new Map([...world.registry].filter(([key, pod]) => isHealthy(key) || !isStaying(pod)));
  const shown = [...registry.values()].map((pod) => pod.id);
  const newest = world.listing.newest;
  const pods = (newest?.pods ?? []).filter(({ id }) => shown.includes(id));
  const blind = decide({
    ...world,
    registry,
    listing: { ...world.listing, newest: newest && { ...newest, pods } },
  });
  const rents = blind.actions.filter((action) => action.kind === 'rent');
  return { ...plan, actions: [...plan.actions.filter((action) => action.kind !== 'rent'), ...rents] };
}
