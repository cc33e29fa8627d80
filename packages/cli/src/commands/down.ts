import { ERRORS } from '@pagefleet/contract';
import type { ConfigOptions } from '../cluster/environment.ts';
import { bringDown } from '../fleet/bring-down.ts';
import { reportDown } from '../fleet/report-down.ts';
import { watchInterrupts } from '../terminal/interrupts.ts';
import { say } from '../terminal/say.ts';
import { requireCluster } from './require-cluster.ts';

export async function down(options: ConfigOptions & { readonly keepPods?: boolean }): Promise<number> {
  const { paths, cluster } = requireCluster(options);
  const keepPods = options.keepPods ?? false;
  const { first } = watchInterrupts();
  const outcome = await bringDown(paths, cluster, { keepPods, say, signal: first });
  const code = reportDown(outcome, keepPods);
  return first.aborted ? ERRORS.interrupted.exitCode : code;
}
