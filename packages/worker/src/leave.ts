import type { Server } from 'node:http';
import net from 'node:net';
import type { Dataplane } from '@pagefleet/dataplane';
import { type Logger, monotonicMs } from '@pagefleet/runtime';

/** nginx keeps an idle upstream connection for 5 s; a request may come on it until then. */
const UPSTREAM_KEEPALIVE_MS = 5_000;
const MARGIN_MS = 1_000;
const POLL_MS = 50;

export interface LeaveOptions {
  readonly server: Server;
  readonly dataplane: Dataplane;
  readonly logger: Logger;
  /** null = as long as the pages take */
  readonly deadlineMs: number | null;
}

/**
 * Stops accepting and resolves when nothing is left to do: no request is open, and no connection is left on which nginx
 * might still send one. `http.Server.close` would cut idle connections while nginx writes on them (measured failures), so
 * only the listening handle is closed; requests that still come are answered with `Connection: close`.
 */
export async function leave({ server, dataplane, logger, deadlineMs }: LeaveOptions): Promise<void> {
  dataplane.leave();
  net.Server.prototype.close.call(server);
  const startedMs = monotonicMs();
  let busyMs = startedMs;
  logger.info({ open: dataplane.open(), deadlineMs }, 'worker_leaving');
  for (;;) {
    const now = monotonicMs();
    if (dataplane.open() > 0) busyMs = now;
    const connections = await countConnections(server);
    if (connections === 0 || now - busyMs > UPSTREAM_KEEPALIVE_MS + MARGIN_MS) break;
    if (deadlineMs !== null && now - startedMs > deadlineMs) {
      logger.warn({ open: dataplane.open() }, 'worker_left_with_open_requests');
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}
