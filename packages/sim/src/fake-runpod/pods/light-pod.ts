import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { PodRecord } from '../table/pod-record.ts';

/** What answers at the ports of a played pod. */
export type LightPodHandler = (
  pod: PodRecord,
  request: IncomingMessage,
  response: ServerResponse,
) => void | Promise<void>;

export interface LightPod {
  close(): void;
}

/** Listens at every port of the pod. Rejects when one of them is taken. */
export async function openLightPod(pod: PodRecord, handler: LightPodHandler): Promise<LightPod> {
  const servers: Server[] = [];
  const close = (): void => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
  try {
    for (const port of new Set(pod.ports.map((mapping) => mapping.public))) {
      const server = createServer((request, response) => void handler(pod, request, response));
      servers.push(server);
      await listen(server, port);
    }
  } catch (error) {
    close();
    throw error;
  }
  return { close };
}

export const answerHealth: LightPodHandler = (pod, request, response) => {
  request.resume();
  const known = request.url === '/healthz' || request.url === '/health';
  response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
  response.end(JSON.stringify(known ? { podId: pod.id, status: 'ok' } : { error: 'not found' }));
};

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve());
  });
}
