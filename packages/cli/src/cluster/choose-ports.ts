import { createServer } from 'node:net';
import { type ClusterFile, PagefleetError } from '@pagefleet/contract';
import { freePorts } from '@pagefleet/runtime';

type Ports = ClusterFile['ports'];

/** The ports of the last life where they are still free: a worker keeps its address, and logs stay readable. */
export async function choosePorts(workers: number, previous: Ports | null): Promise<Ports> {
  const wanted = previous ? [previous.nats, previous.controller, previous.backup, ...previous.workers] : [];
  const kept = await Promise.all(wanted.map((port) => isFree('127.0.0.1', port)));
  const spare = await freePorts(3 + workers);
  const take = (index: number): number => {
    const old = wanted[index];
    return old !== undefined && kept[index] ? old : nextSpare(spare, wanted);
  };
  const [nats, controller, backup] = [take(0), take(1), take(2)];
  return { nats, controller, backup, workers: Array.from({ length: workers }, (_, n) => take(3 + n)) };
}

function nextSpare(spare: number[], taken: readonly number[]): number {
  for (let port = spare.pop(); port !== undefined; port = spare.pop()) {
    if (!taken.includes(port)) return port;
  }
  throw new PagefleetError('internal', 'No free port is left.');
}

/** Refuses with words before anything is started: nginx would only log it. */
export async function requireFreeEndpoint({ host, port }: { host: string; port: number }): Promise<void> {
  if (await isFree(host, port)) return;
  throw new PagefleetError(
    'conflict',
    `Port ${port} on ${host} is in use by another program. Set listen.port in pagefleet.yaml or PAGEFLEET_LISTEN_PORT.`,
  );
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
