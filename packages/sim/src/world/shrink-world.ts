import type { WorldEvent } from './events.ts';
import { runWorld, type WorldRun, type WorldViolation } from './run-world.ts';

/** so many plays at most */
const MOST_PLAYS = 400;

/**
 * The same violation with as few events as it takes: halves, quarters, … single events are left out as long as the law
 * is still broken. Ends with a play that is traced.
 */
export async function shrinkWorld(run: WorldRun, violation: WorldViolation): Promise<WorldViolation> {
  let shortest = violation;
  let plays = 0;
  const isStillBroken = async (events: readonly WorldEvent[]): Promise<boolean> => {
    plays += 1;
    const found = await runWorld({ ...run, events });
    if (found === null || found.law !== violation.law) return false;
    shortest = found;
    return true;
  };
  for (
    let size = Math.ceil(violation.events.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < shortest.events.length && plays < MOST_PLAYS; ) {
      const rest = [...shortest.events.slice(0, from), ...shortest.events.slice(from + size)];
      if (!(await isStillBroken(rest))) from += size;
    }
  }
  return (await runWorld({ ...run, events: shortest.events }, [])) ?? shortest;
}

export function describeViolation({ seed, law, sentence, atMs, events, trace }: WorldViolation): string {
  return [
    `seed ${seed}, ${(atMs / 1_000).toFixed(1)} s: ${law}: ${sentence}`,
    ...events.map(
      (event) => `  ${(event.atMs / 1_000).toFixed(1)} s ${event.name} ${JSON.stringify(event.args)}`,
    ),
    ...trace,
  ].join('\n');
}
