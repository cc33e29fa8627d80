import type { Prng } from '../hand-over/prng.ts';
import type { CloudPod, RentFate } from './cloud.ts';
import { Disk } from './disk.ts';
import type { CallName, CrashPhase } from './life.ts';
import { strangersToken } from './pod-network.ts';
import { drawPool } from './settings.ts';
import { CLUSTER_ID, type SimWorld } from './sim-world.ts';

/** How often it happens beside the others, what it draws, and what it does. All chance is drawn before anything happens. */
interface Kind<A> {
  readonly weight: number;
  readonly draw: (prng: Prng) => A;
  readonly apply: (world: SimWorld, args: A) => void;
}

const kind = <A>(weight: number, draw: Kind<A>['draw'], apply: Kind<A>['apply']): Kind<A> => ({
  weight,
  draw,
  apply,
});
const between = (prng: Prng, from: number, to: number): number => from + prng.int(to - from);
/** the more often, the more hangs on them */
const CALLS: readonly CallName[] = [
  ...(['rent', 'rent', 'rent', 'rent', 'sync', 'sync', 'terminate', 'terminate', 'kv'] as const),
  ...(['write', 'read', 'rename', 'list', 'probe'] as const),
];

/** Everything that may happen to a cluster from outside. */
export const EVENTS = {
  demand: kind(
    9,
    (prng) => ({ pool: prng.int(2), pages: prng.pick([0, 0, 1, 4, 12, 40, 40]) ?? 0 }),
    (world, { pool, pages }) => {
      const name = world.settings.pools[pool % world.settings.pools.length]?.name ?? '';
      world.work.demand.set(name, pages);
      world.tellControllers();
    },
  ),
  'rent goes wrong': kind(7, drawFate, (world, fate) => void world.faults.rents.push(fate)),
  'listing goes wrong': kind(
    2,
    (prng) => ({ fault: prng.chance(0.6) ? ('fails' as const) : between(prng, 1_000, 50_000) }),
    (world, { fault }) => void world.faults.listings.push(fault),
  ),
  'end goes wrong': kind(
    2,
    (prng) => ({ fault: prng.chance(0.4) ? ('fails' as const) : between(prng, 60_000, 400_000) }),
    (world, { fault }) => void world.faults.ends.push(fault),
  ),
  'provider away': kind(
    1.5,
    (prng) => ({ ms: between(prng, 5_000, 240_000) }),
    (world, { ms }) => {
      world.cloud.isApiUp = false;
      world.clock.later(ms, () => {
        world.cloud.isApiUp = true;
      });
    },
  ),
  'network away': kind(
    1.5,
    (prng) => ({ ms: between(prng, 5_000, 240_000) }),
    (world, { ms }) => {
      world.network.isUp = false;
      world.clock.later(ms, () => {
        world.network.isUp = true;
      });
    },
  ),
  'bus away': kind(
    1.5,
    (prng) => ({ ms: between(prng, 500, 60_000), isWiped: prng.chance(0.3) }),
    (world, { ms, isWiped }) => {
      world.bus.isUp = false;
      world.spend.isUndisturbed = false;
      if (isWiped) world.bus.wipe();
      world.clock.later(ms, () => {
        world.bus.isUp = true;
      });
    },
  ),
  'worker silent': kind(
    1,
    (prng) => ({ ms: between(prng, 1_000, 60_000), isSecond: prng.chance(0.5) }),
    (world, { ms, isSecond }) => {
      const field = isSecond ? 'isSecondSilent' : 'isSilent';
      world.work[field] = true;
      world.clock.later(ms, () => {
        world.work[field] = false;
      });
    },
  ),
  'worker replaced': kind(
    0.7,
    () => ({}),
    (world) => world.work.replaceWorker(),
  ),
  'pod refuses': kind(
    3,
    (prng) => ({ pod: prng.int(6), ms: between(prng, 2_000, 200_000) }),
    onPod((pod, { ms }, world) => {
      pod.refusesUntilMs = world.clock.nowMs + ms;
    }),
  ),
  'pod refuses pages': kind(
    2,
    (prng) => ({ pod: prng.int(6), ms: between(prng, 2_000, 120_000) }),
    onPod((pod, { ms }, world) => {
      pod.refusesPagesUntilMs = world.clock.nowMs + ms;
    }),
  ),
  'pod hangs': kind(
    1,
    (prng) => ({ pod: prng.int(6) }),
    onPod((pod) => {
      pod.isHung = true;
    }),
  ),
  'pod vanishes': kind(
    1.5,
    (prng) => ({ pod: prng.int(6) }),
    onPod((pod, _args, world) => world.cloud.end(pod)),
  ),
  'pod exits': kind(
    1,
    (prng) => ({ pod: prng.int(6) }),
    onPod((pod) => {
      pod.hasExited = true;
    }),
  ),
  'pod missing from one listing': kind(
    2,
    (prng) => ({ pod: prng.int(6) }),
    onPod((pod, _args, world) => {
      pod.isHiddenOnce = !pod.wasMissing && !world.settings.isFree;
    }),
  ),
  'pod moves': kind(
    0.7,
    (prng) => ({ pod: prng.int(6), n: prng.int(1_000) }),
    onPod((pod, { n }, world) => world.cloud.move(pod, `psk://moved${n}-${pod.id}:1`)),
  ),
  'price changes': kind(
    0.7,
    (prng) => ({ pod: prng.int(6), factor: prng.pick([0.5, 1.2, 4]) ?? 1 }),
    onPod((pod, { factor }, world) => {
      pod.priceUsdPerHour *= factor;
      world.spend.isExact = false;
    }),
  ),
  'strangers on the account': kind(
    0.8,
    (prng) => ({ n: prng.int(1_000), isNamedLikeOurs: prng.chance(0.5) }),
    (world, { n, isNamedLikeOurs }) => {
      const name = isNamedLikeOurs ? `${CLUSTER_ID}-ocr-${n}` : `other-ocr-${n}`;
      const mark = { ...{ clusterId: 'other', podKey: `x${n}`, keyId: 'k1', pool: 'ocr', name }, ...STRANGE };
      world.cloud.place({ name, mark: isNamedLikeOurs ? null : mark, token: strangersToken(name) });
    },
  ),
  'disk full': kind(
    0.8,
    (prng) => ({ ms: between(prng, 2_000, 60_000) }),
    (world, { ms }) => {
      const { disk } = world;
      disk.isFull = true;
      // What cannot be stored is not counted, and is the provider's records' to say.
      world.spend.isExact = false;
      world.clock.later(ms, () => {
        disk.isFull = false;
      });
    },
  ),
  killed: kind(
    1.5,
    (prng) => ({ isPowerCut: prng.chance(0.4) }),
    (world, { isPowerCut }) => world.kill(isPowerCut),
  ),
  'killed at a call': kind(
    6,
    (prng) => ({
      name: prng.chance(0.3) ? null : (prng.pick(CALLS) ?? null),
      phase: prng.pick<CrashPhase>(['before', 'after']) ?? 'before',
      countdown: 1 + prng.int(prng.pick([1, 1, 3, 30]) ?? 1),
      isPowerCut: prng.chance(0.4),
    }),
    (world, crash) => {
      world.crash = { ...crash };
    },
  ),
  'stopped and continued': kind(
    0.8,
    (prng) => ({ ms: prng.pick([500, 5_000, 29_000, 120_000, 1_200_000]) ?? 500 }),
    (world, { ms }) => world.stopFor(ms),
  ),
  'journal deleted': kind(
    0.8,
    () => ({}),
    (world) => {
      world.kill(false);
      world.eraseDisk();
    },
  ),
  'second controller': kind(
    0.8,
    (prng) => ({ isCopy: prng.chance(0.5), stopMs: prng.pick([0, 3_000, 40_000, 300_000]) ?? 0 }),
    (world, { isCopy, stopMs }) => {
      // A free provider's account is in the state directory, which one controller holds.
      if (!world.settings.isFree) world.startRival(isCopy ? world.disk.copy() : new Disk(), stopMs);
    },
  ),
  'clock set': kind(
    0.6,
    (prng) => ({ ms: prng.pick([-30_000, -2_000, 2_000, 60_000]) ?? 0 }),
    (world, { ms }) => world.setClock(ms),
  ),
  'configured anew': kind(
    1.2,
    (prng) => ({ pools: ['ocr', 'chat'].map((name) => drawPool(name, prng)), isNewKey: prng.chance(0.4) }),
    (world, { pools, isNewKey }) => {
      const names = world.settings.pools.map(({ name }) => name);
      world.settings = { ...world.settings, pools: pools.filter(({ name }) => names.includes(name)) };
      if (isNewKey) world.rotateSecret();
      world.kill(false);
    },
  ),
} as const;

export type EventName = keyof typeof EVENTS;

export interface WorldEvent {
  readonly atMs: number;
  readonly name: EventName;
  readonly args: unknown;
}

export function applyEvent(world: SimWorld, { name, args }: WorldEvent): void {
  world.note(() => `* ${name} ${JSON.stringify(args)}`);
  // The table's draw and apply belong together, which the type of a look-up cannot say.
  (EVENTS[name] as Kind<unknown>).apply(world, args);
}

const STRANGE = { width: 4, configHash: 'theirs', spot: false } as const;

function onPod<A extends { readonly pod: number }>(
  change: (pod: CloudPod, args: A, world: SimWorld) => void,
): (world: SimWorld, args: A) => void {
  return (world, args) => {
    const pods = world.cloud.ours();
    const pod = pods[args.pod % Math.max(1, pods.length)];
    if (pod !== undefined) change(pod, args, world);
  };
}

function drawFate(prng: Prng): Partial<RentFate> {
  const boughtOrNot = { isBought: prng.chance(0.6) };
  const odd: readonly Partial<RentFate>[] = [
    {
      answer: 'refused',
      fault: prng.pick(['no-capacity', 'no-capacity', 'wait', 'account', 'request']) ?? 'wait',
    },
    { answer: 'lost', answerMs: between(prng, 200, 30_000), ...boughtOrNot },
    {
      answer: 'lost',
      answerMs: between(prng, 200, 30_000),
      ...boughtOrNot,
      hiddenMs: between(prng, 1_000, 200_000),
    },
    { answer: 'lost', isBought: true, lateMs: between(prng, 1_000, 480_000) },
    { answer: 'thrown', ...boughtOrNot },
    { answerMs: between(prng, 5_000, 110_000) },
    { hiddenMs: between(prng, 1_000, 200_000) },
    { bootMs: Number.POSITIVE_INFINITY },
    { bootMs: Number.POSITIVE_INFINITY, addressMs: Number.POSITIVE_INFINITY },
    { bootMs: between(prng, 30_000, 150_000) },
    { priceFactor: prng.pick([1.5, 3]) ?? 3 },
    { isTwin: true },
    { reusesAddress: true },
  ];
  return odd[prng.int(odd.length)] ?? {};
}
