import { Adversary } from './adversary.ts';
import { settle } from './calm.ts';
import { type ClauseName, rulesWithout } from './clauses.ts';
import { ClusterModel } from './cluster-model.ts';
import { createPrng } from './prng.ts';

export interface HandOverRun {
  readonly seed: number;
  /** things that happen before the adversary stops */
  readonly steps: number;
  /** play without this clause of the rule */
  readonly broken?: ClauseName;
}

/** `overrun`: a pod ran more pages than its width; `waited`: a worker waited beside idle width; `unfinished`: work was left */
export type ViolationKind = 'overrun' | 'waited' | 'unfinished';

export interface HandOverViolation {
  readonly seed: number;
  /** index of the event after which a pod ran too many pages; undefined: in the calm that follows */
  readonly step: number | undefined;
  readonly kind: ViolationKind;
  readonly what: string;
  /** everything that happened, one line each */
  readonly trace: readonly string[];
}

/** Plays one seed; undefined when no pod ever ran more than its width and all work was done in the end. */
export function runHandOver(run: HandOverRun): HandOverViolation | undefined {
  // the trace costs more than the run, so it is written in a second one
  if (play(run, undefined) === undefined) return undefined;
  return play(run, []);
}

function play(
  { seed, steps, broken }: HandOverRun,
  trace: string[] | undefined,
): HandOverViolation | undefined {
  const prng = createPrng(seed);
  const widths = Array.from({ length: 1 + prng.int(3) }, () => 1 + prng.int(3));
  const cluster = new ClusterModel(rulesWithout(broken), { widths, workers: 1 + prng.int(3) });
  const adversary = new Adversary(prng);
  for (let step = 0; step < steps; step += 1) {
    const happened = adversary.act(cluster);
    if (happened) trace?.push(`${step} ${happened()}`);
    const overrun = cluster.overrun();
    if (overrun !== undefined) return { seed, step, kind: 'overrun', what: overrun, trace: trace ?? [] };
  }
  const unsettled = settle(cluster, prng);
  return unsettled && { seed, step: undefined, ...unsettled, trace: trace ?? [] };
}
