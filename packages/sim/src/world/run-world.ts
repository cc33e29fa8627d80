import { createPrng } from '../hand-over/prng.ts';
import { type Calm, CalmWatch, heal } from './calm.ts';
import { drawEvents } from './draw-events.ts';
import { applyEvent, type WorldEvent } from './events.ts';
import type { BuildController } from './outside.ts';
import { drawSettings } from './settings.ts';
import { SimWorld } from './sim-world.ts';
import { settleMicrotasks } from './virtual-clock.ts';

export interface WorldRun {
  readonly seed: number;
  readonly build: BuildController;
  /** instead of what the seed would draw */
  readonly events?: readonly WorldEvent[];
}

export interface WorldViolation {
  readonly seed: number;
  readonly law: string;
  readonly sentence: string;
  /** since the beginning of the run */
  readonly atMs: number;
  readonly events: readonly WorldEvent[];
  /** everything that happened, one line each; empty unless asked for */
  readonly trace: readonly string[];
}

const AFTER_LAST_EVENT_MS = 20_000;

/** Plays one seed; null when no law was broken and in the end nothing bills. */
export async function runWorld(run: WorldRun, trace?: string[]): Promise<WorldViolation | null> {
  const { seed } = run;
  const prng = createPrng(seed);
  const settings = drawSettings(prng);
  const calm: Calm = prng.chance(0.4) ? 'down' : 'idle';
  const drawn = drawEvents(prng);
  const events = run.events ?? drawn;
  const world = new SimWorld({ seed, settings, build: run.build, trace });
  world.note(() => JSON.stringify({ settings, calm }));
  world.startController();
  const startMs = world.clock.nowMs;
  for (const event of events) {
    await advance(world, startMs + event.atMs);
    if (world.broken !== null) break;
    applyEvent(world, event);
    await settleMicrotasks();
    world.check();
  }
  await advance(world, world.clock.nowMs + AFTER_LAST_EVENT_MS);
  if (world.broken === null) await comeToRest(world, calm);
  const { broken } = world;
  world.endRun();
  return broken === null ? null : { seed, ...broken, events, trace: trace ?? [] };
}

async function comeToRest(world: SimWorld, calm: Calm): Promise<void> {
  heal(world);
  await advance(world, world.clock.nowMs + 5_000);
  const watch = new CalmWatch(world, calm);
  for (let next = watch.next(); next !== null && world.broken === null; next = watch.next())
    await advance(world, next);
}

async function advance(world: SimWorld, untilMs: number): Promise<void> {
  while (world.broken === null && world.clock.step(untilMs)) {
    await settleMicrotasks();
    world.check();
  }
}
