import { ERRORS } from '@pagefleet/contract';
import type { DownOutcome } from './bring-down.ts';
import { describePod } from './own-provider.ts';

/** Says what is left and what it costs; returns the exit code. */
export function reportDown(outcome: DownOutcome, keepPods: boolean, upAgain: string): number {
  const { pods, processes, unresolved, spendTodayUsd } = outcome;
  if (pods === null) {
    const told =
      outcome.told.length === 0 ? 'which pods still bill is not known' : 'these pods may still bill:';
    console.error(`The account cannot be listed; ${told}`);
    for (const pod of outcome.told) console.error(`  ${pod}`);
    console.error(
      '`pagefleet down` again ends them once the provider answers; without an owner they end by dead_man.',
    );
  }
  if (pods !== null && pods.length > 0) {
    const what = keepPods ? 'kept, and billing until they are ended' : 'NOT ended, and may still bill';
    console.error(`${pods.length} pods ${what}:`);
    for (const pod of pods) console.error(`  ${describePod(pod)}`);
    console.error(
      keepPods
        ? `\`${upAgain}\` takes them over again; without an owner they end themselves after dead_man.`
        : 'End them with `pagefleet down`.',
    );
  }
  if (unresolved !== null && unresolved.length > 0) {
    console.error(
      `${unresolved.length} rents were asked for and their outcome is not known; they may still appear and bill:`,
    );
    for (const name of unresolved) console.error(`  ${name}`);
    console.error('Run `pagefleet down` again in 15 minutes: it ends what the account shows then.');
  }
  if (unresolved === null && !keepPods) {
    console.error(
      'No controller could say whether a rent was under way. `pagefleet down` again in 15 minutes ends what the account shows then.',
    );
  }
  if (processes.length > 0) {
    const pids = processes.map(({ pid }) => pid).join(', ');
    console.error(`processes still running: ${pids}; \`pagefleet down\` waits for them`);
  }
  const spend = spendTodayUsd === null ? 'unknown: no controller could say' : `$${spendTodayUsd.toFixed(2)}`;
  console.error(`spent today: ${spend}`);
  const isSettled = keepPods || (pods?.length === 0 && (unresolved?.length ?? 0) === 0);
  const isClean = processes.length === 0 && isSettled;
  return isClean ? 0 : ERRORS.pods_remain.exitCode;
}
