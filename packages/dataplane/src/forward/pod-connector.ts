import { podRoute } from '@pagefleet/runtime';
import { buildConnector } from 'undici';

/** Where a pod is, and what it is spoken to with: never one without the other. */
export interface PodAddress {
  readonly url: string;
  readonly token: string;
}

/** No connection came about, so nothing was sent; `code` is the cause's. */
export class ConnectFailure extends Error {
  readonly code: string;

  constructor(cause: NodeJS.ErrnoException) {
    super('no connection to the pod', { cause });
    this.name = 'ConnectFailure';
    this.code = cause.code ?? cause.name;
  }
}

interface PodConnector {
  readonly origin: string;
  readonly connect: buildConnector.connector;
}

/**
 * Opens connections to one pod. A TLS handshake fails with codes that could as well mean a connection that broke later, so
 * what failed is marked here, where it is still known.
 */
export function createPodConnector({ url, token }: PodAddress, timeoutMs: number): PodConnector {
  const { origin, connect } = podRoute(url, token);
  const open = buildConnector({ ...connect, timeout: timeoutMs });
  return {
    origin,
    // What it returns is the socket, by which undici gives an attempt up; its types do not say so.
    connect: (options, callback) =>
      open(options, (...[error, socket]) => {
        if (error === null) callback(null, socket);
        else callback(new ConnectFailure(error), null);
      }),
  };
}
