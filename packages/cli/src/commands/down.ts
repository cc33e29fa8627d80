import { ERRORS } from '@pagefleet/contract';
import { accountOf, endNewPods } from '../cluster/end-new-pods.ts';
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
  const work = bringDown(paths, cluster, { keepPods, say, signal: first });
  const outcome = await (keepPods ? work : endNewPods(accountOf(cluster), work, say));
  const code = reportDown(outcome, keepPods);
  return first.aborted ? ERRORS.interrupted.exitCode : code;
}
