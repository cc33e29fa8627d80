import { type Client, createClient } from '@pagefleet/client';
import type { FleetPlan } from '@pagefleet/contract';
import { controllerUrl } from '../cluster/endpoint.ts';
import type { ConfigOptions } from '../cluster/environment.ts';
import { readOperatorToken } from '../cluster/prepare-cluster.ts';
import { formatStatus } from '../fleet/format-status.ts';
import { requireCluster } from './require-cluster.ts';

type Options = ConfigOptions & { readonly json?: boolean };

export function status(options: Options): Promise<number> {
  return show(options, (client) => client.status(), formatStatus);
}

export function plan(options: Options): Promise<number> {
  return show(options, (client) => client.plan(), formatPlan);
}

async function show<T>(
  options: Options,
  ask: (client: Client) => Promise<T>,
  format: (value: T) => string,
): Promise<number> {
  const { cluster } = requireCluster(options);
  const client = createClient({ url: controllerUrl(cluster), token: readOperatorToken(cluster) });
  try {
    const value = await ask(client);
    console.log(options.json ? JSON.stringify(value, null, 2) : format(value));
    return 0;
  } finally {
    await client.close();
  }
}

function formatPlan({ actions, reasons, wake_in_ms }: FleetPlan): string {
  const steps = actions.map(({ kind, pod, pool, why }) => `${kind} ${pod ?? pool ?? ''}: ${why}`);
  return [
    ...(steps.length > 0 ? steps : ['nothing to do']),
    ...reasons.map((reason) => `  ${reason}`),
    `next look in ${(wake_in_ms / 1_000).toFixed(1)} s at the latest`,
  ].join('\n');
}
