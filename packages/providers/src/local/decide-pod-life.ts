export interface PodFacts {
  /** `unknown`: nobody has written down which process it is */
  readonly process: 'alive' | 'gone' | 'unknown';
  readonly ended: boolean;
  readonly ageMs: number;
}

export type PodLife =
  /** its process runs; `ending` = asked to end and still there, so it still exists */
  | 'running'
  | 'ending'
  /** rented a moment ago; its process is not known yet */
  | 'creating'
  /** rented long ago and still no process: gone as soon as an exit mark forbids a late one to start */
  | 'forsaken'
  | 'gone';

/** Time from the record to the identity of its process. Milliseconds on an idle machine. */
export const CREATING_MS = 30_000;

const ROWS: readonly (readonly [(facts: PodFacts) => boolean, PodLife])[] = [
  [(f) => f.process === 'alive' && f.ended, 'ending'],
  [(f) => f.process === 'alive', 'running'],
  [(f) => f.process === 'gone', 'gone'],
  [(f) => f.ended, 'gone'],
  // A negative age is a clock that was set back; such a record must not count as new until the clock has caught up.
  [(f) => f.ageMs >= 0 && f.ageMs < CREATING_MS, 'creating'],
];

/** The first row that holds decides. */
export function decidePodLife(facts: PodFacts): PodLife {
  return ROWS.find(([holds]) => holds(facts))?.[1] ?? 'forsaken';
}
