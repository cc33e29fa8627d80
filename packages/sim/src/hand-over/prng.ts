/** A seeded source of chance (mulberry32), so that every run can be repeated from its seed. */
export interface Prng {
  /** 0 ≤ x < 1 */
  next(): number;
  /** 0 ≤ n < below */
  int(below: number): number;
  chance(probability: number): boolean;
  /** undefined only for an empty list */
  pick<T>(from: readonly T[]): T | undefined;
}

export function createPrng(seed: number): Prng {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (below: number): number => Math.floor(next() * below);
  return { next, int, chance: (probability) => next() < probability, pick: (from) => from[int(from.length)] };
}
