import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@pagefleet/runtime';

export interface ListenOptions {
  readonly port: number;
  readonly backlog: number;
  readonly logger: Logger;
  /** Somebody else still holds the port. */
  onTaken(): void;
}

const RETRY_MS = 100;
const TELL_EVERY = 50;

/**
 * Listens on a fixed loopback port. An orphan of a killed primary may still hold it for a moment, so a taken port is tried
 * again for as long as it takes. `exclusive: false` shares the handle through the cluster primary.
 */
export async function listenUntilFree(
  server: Server,
  { port, backlog, logger, onTaken }: ListenOptions,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const error = await listenOnce(server, port, backlog);
    if (!error) return;
    if (error.code !== 'EADDRINUSE') throw error;
    if (tries % TELL_EVERY === 0) {
      logger.warn({ port, tries }, 'port_taken');
      onTaken();
    }
    await sleep(RETRY_MS);
  }
}

function listenOnce(server: Server, port: number, backlog: number): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      server.off('listening', onListening);
      resolve(error);
    };
    const onListening = (): void => {
      server.off('error', onError);
      resolve(null);
    };
    server.once('error', onError);
    server.once('listening', onListening);
    server.listen({ port, host: '127.0.0.1', backlog, exclusive: false });
  });
}
