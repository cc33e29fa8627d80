import type { Prng } from '../hand-over/prng.ts';
import { EVENTS, type EventName, type WorldEvent } from './events.ts';

const NAMES = Object.keys(EVENTS) as readonly EventName[];
/** A run has its own taste: some things happen often in it, some never. Together the seeds reach what no one mix would. */
const TASTES = [0, 0, 0.3, 1, 3];
const PAUSES_MS = [200, 1_500, 5_000, 5_000, 20_000, 20_000, 60_000] as const;
const EVENTS_PER_RUN = [6, 12, 20, 30] as const;

/** All that is going to happen in a run, with its time, so that any part of it can be left out and the rest be played again. */
export function drawEvents(prng: Prng): WorldEvent[] {
  const weights = NAMES.map((name) => {
    const isAlways = name === 'demand';
    return [name, EVENTS[name].weight * (isAlways ? 1 : (prng.pick(TASTES) ?? 1))] as const;
  });
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
  const events: WorldEvent[] = [];
  const count = prng.pick(EVENTS_PER_RUN) ?? 12;
  let atMs = 1_000 + prng.int(5_000);
  for (let n = 0; n < count; n += 1) {
    const name = n === 0 ? 'demand' : pickWeighted(weights, prng.next() * total);
    events.push({ atMs, name, args: EVENTS[name].draw(prng) });
    atMs += prng.int(prng.pick(PAUSES_MS) ?? 1_000);
  }
  return events;
}

function pickWeighted(weights: readonly (readonly [EventName, number])[], at: number): EventName {
  let left = at;
  for (const [name, weight] of weights) {
    left -= weight;
    if (left < 0) return name;
  }
  return 'demand';
}
