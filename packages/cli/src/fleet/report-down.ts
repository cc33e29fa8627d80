import { ERRORS } from '@pagefleet/contract';
import type { DownOutcome } from './bring-down.ts';
import { describePod } from './own-provider.ts';

/** Says what is left and what it costs; returns the exit code. */
export function reportDown({ pods, processes, spendTodayUsd }: DownOutcome, keepPods: boolean): number {
  if (pods.length > 0) {
    const what = keepPods ? 'kept, and billing until they are ended' : 'NOT ended, and may still bill';
    console.error(`${pods.length} pods ${what}:`);
    for (const pod of pods) console.error(`  ${describePod(pod)}`);
    console.error(
      keepPods
        ? '`pagefleet up` takes them over again; without an owner they end themselves after dead_man.'
        : 'End them with `pagefleet down`.',
    );
  }
  if (processes.length > 0) {
    const pids = processes.map(({ pid }) => pid).join(', ');
    console.error(`processes still running: ${pids}; \`pagefleet down\` waits for them`);
  }
  const spend = spendTodayUsd === null ? 'unknown: no controller could say' : `$${spendTodayUsd.toFixed(2)}`;
  console.error(`spent today: ${spend}`);
  const isClean = processes.length === 0 && (keepPods || pods.length === 0);
  return isClean ? 0 : ERRORS.pods_remain.exitCode;
}
