import { decideAdoption, enterRegistry, matchListing } from './adopt.ts';
import { type Caps, caps } from './caps.ts';
import { chooseOffers, pricedPools, unknownCards } from './choose-offer.ts';
import { type Bucket, classify } from './classify.ts';
import { LIFE_STEPS } from './decide-life.ts';
import { QUARANTINE_STEPS } from './decide-quarantine.ts';
import { decideDrops, decideRents, noteSurplus } from './decide-scale.ts';
import { decideShed } from './decide-shed.ts';
import { offered } from './demand.ts';
import { fleetFaultOfOurs } from './evidence.ts';
import { learn } from './learn.ts';
import { type Memory, NEW_POOL_MEMORY, type PoolMemory } from './memory.ts';
import { applyStep, type Pass } from './pass.ts';
import type { Plan, PoolNote, RentAction } from './plan.ts';
import type { Pod } from './pod-state.ts';
import { viewPod } from './pod-view.ts';
import { REFUSAL_WORDS } from './rent-limits.ts';
import type { Decide } from './step.ts';
import { listingDueMs, wakeAtMs } from './wake.ts';
import type { World } from './world.ts';

const STEPS: Record<Bucket, Decide> = { ...LIFE_STEPS, ...QUARANTINE_STEPS };
/** A pod goes through a few situations in one instant (found, up, first page); more would be a loop of ours. */
const STEPS_PER_POD = 8;

/**
 * One pass. Adopts, moves every pod as far as what is known carries it, learns, sends away what is too much, and only
 * then rents, so that each part sees what the parts before it did.
 */
export function decide(world: World): Plan {
  const registry = new Map([...world.registry].filter(([, pod]) => pod.state !== 'terminated'));
  const forgotten: Pod[] = [...world.registry.values()].filter((pod) => pod.state === 'terminated');
  const adoption = decideAdoption({ ...world, sweptAtMs: world.memory.sweptAtMs });
  let adopted: ReadonlyMap<string, Pod> = registry;
  for (const { pod } of adoption.adoptions) adopted = enterRegistry(adopted, pod, world.nowMs).registry;
  const pass = openPass({ ...world, registry: adopted }, adoption.alarms);
  moveAll(pass);
  const isNew = new Set(adoption.adoptions.map(({ pod }) => pod.key));
  forgotten.push(...takeTerminated(pass));
  const memories = learnAll(pass, forgotten);
  // Chosen on what this pass has learnt: an offer that was just refused is not the next one tried.
  const learnt = {
    ...world,
    registry: adopted,
    memory: { ...world.memory, pools: Object.fromEntries(memories) },
  };
  const scale = decideScale(
    { ...pass, world: { ...learnt, pools: pricedPools(world.pools, learnt) } },
    memories,
  );
  forgotten.push(...takeTerminated(pass));
  const memory: Memory = { sweptAtMs: adoption.sweptAtMs, pools: Object.fromEntries(memories) };
  return {
    nowMs: world.nowMs,
    actions: [...pass.actions.values(), ...scale.rents],
    transitions: pass.transitions.filter(({ podKey }) => !isNew.has(podKey)),
    adoptions: adoption.adoptions.map((a) => ({ ...a, pod: pass.registry.get(a.pod.key) ?? a.pod })),
    forget: forgotten.map((pod) => pod.key),
    caps: scale.caps,
    pools: scale.notes,
    alarms: [...pass.alarms, ...scale.alarms],
    memory,
    wakeAtMs: wakeAtMs(pass.registry, memory, world),
    listingDueMs: listingDueMs(pass.registry, world),
  };
}

function openPass(world: World, alarms: readonly string[]): Pass {
  const ends = Object.entries(world.memory.pools).map(
    ([pool, memory]) => [pool, [...memory.endsByProbeMs]] as const,
  );
  return {
    world,
    match: matchListing(world.listing.newest, world.registry, world.clusterId),
    registry: new Map(world.registry),
    changes: [],
    transitions: [],
    actions: new Map(),
    endsByProbeMs: new Map(ends),
    alarms: [...alarms],
  };
}

/** Every pod, in an order that does not depend on the registry's. */
function moveAll(pass: Pass): void {
  for (const key of [...pass.registry.keys()].sort()) movePod(pass, key);
}

function movePod(pass: Pass, key: string): void {
  let pod = pass.registry.get(key) ?? null;
  for (let n = 0; pod !== null && n < STEPS_PER_POD; n++) {
    const view = viewPod(pod, pass);
    const step = STEPS[classify(view)](view);
    if (step === null) return;
    pod = applyStep(pass, pod, step);
  }
}

/** What a pass ends for good leaves the registry with it. */
function takeTerminated(pass: Pass): Pod[] {
  const over = [...pass.registry.values()].filter((pod) => pod.state === 'terminated');
  for (const pod of over) pass.registry.delete(pod.key);
  return over;
}

function learnAll(pass: Pass, forgotten: readonly Pod[]): Map<string, PoolMemory> {
  const { world } = pass;
  return new Map(
    world.pools.map(({ name }) => [name, learn(name, world.memory.pools[name], pass, forgotten)]),
  );
}

interface Scale {
  readonly caps: Caps;
  readonly rents: readonly RentAction[];
  readonly notes: readonly PoolNote[];
  readonly alarms: readonly string[];
}

/** All that leaves goes before anything is rented, in every pool: what one pool gives up, another may use. */
function decideScale(pass: Pass, memories: Map<string, PoolMemory>): Scale {
  const { world } = pass;
  const before = caps({ ...world, registry: pass.registry });
  const staying = pass.transitions.length;
  decideShed(pass, before);
  for (const settings of world.pools) {
    const cap = before.pools.get(settings.name);
    const memory = memories.get(settings.name) ?? NEW_POOL_MEMORY;
    if (cap !== undefined) memories.set(settings.name, decideDrops(settings, memory, cap, pass));
  }
  const drained = pass.transitions.slice(staying);
  // What one pod may do can depend on another that moved after it, or that has just been sent away.
  moveAll(pass);
  const faultOfOurs = fleetFaultOfOurs(pass);
  const rents: RentAction[] = [];
  const notes: PoolNote[] = [];
  const alarms = faultOfOurs === null ? [] : [`the fault looks like ours: ${faultOfOurs}; nothing is rented`];
  for (const settings of world.pools) {
    const { name } = settings;
    const cap = caps({ ...world, registry: pass.registry }).pools.get(name);
    if (cap === undefined) continue;
    const work = offered(name, pass.registry, world);
    const memory = memories.get(name) ?? NEW_POOL_MEMORY;
    const offerWhy = chooseOffers(settings, world).why;
    const result = decideRents({ settings, memory, cap, pass, offerWhy, faultOfOurs });
    memories.set(name, noteSurplus(settings, result.memory, pass));
    rents.push(...result.rents);
    if (result.memory.failedBoots >= 3)
      alarms.push(`${name}: ${result.memory.failedBoots} boots in a row failed, renting is suspended`);
    alarms.push(
      ...unknownCards(settings, world).map((card) => `${name}: the catalogue has no card "${card}"`),
    );
    if (result.memory.refusal !== null) alarms.push(`${name}: ${REFUSAL_WORDS[result.memory.refusal.fault]}`);
    const drains = drained.filter((t) => pass.registry.get(t.podKey)?.pool === name).length;
    notes.push({
      pool: name,
      demand: work.demand,
      capacity: work.capacity,
      rents: result.rents.length,
      drains,
      note: result.note,
    });
  }
  return { caps: before, rents, notes, alarms };
}
