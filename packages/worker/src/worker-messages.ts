/** Between the cluster primary and its workers, over the pipe of the fork. */
export type ToWorker =
  | { readonly kind: 'ping' }
  /** Stop accepting, finish, exit; with a deadline, or for as long as the pages take. */
  | { readonly kind: 'leave'; readonly deadlineMs: number | null };

const FROM_WORKER = ['pong', 'listening', 'port_taken'] as const;
export interface FromWorker {
  readonly kind: (typeof FROM_WORKER)[number];
}

export function parseFromWorker(message: unknown): FromWorker | null {
  const kind = FROM_WORKER.find((known) => known === kindOf(message));
  return kind === undefined ? null : { kind };
}

export function parseToWorker(message: unknown): ToWorker | null {
  const kind = kindOf(message);
  if (kind === 'ping') return { kind };
  if (kind !== 'leave') return null;
  const { deadlineMs } = message as { deadlineMs?: unknown };
  return { kind, deadlineMs: typeof deadlineMs === 'number' ? deadlineMs : null };
}

function kindOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'kind' in message ? message.kind : null;
}
