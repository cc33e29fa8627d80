import type { ClusterFile } from '@pagefleet/contract';

/** Paths whose work the workers do; everything else is the controller's. */
export const PAGE_PATHS = [
  '/v1/ocr',
  '/v1/ocr/batch',
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/embeddings',
] as const;

export interface GenerationFiles {
  readonly 'upstream.conf': string;
  readonly 'locations.conf': string;
  /** so that the files can be written down one by one */
  readonly [name: string]: string;
}

/** The two files of one generation: which workers exist, and which paths go to them. */
export function renderGeneration(
  cluster: ClusterFile,
  workerPorts: readonly number[],
  generation: number,
): GenerationFiles {
  return {
    'upstream.conf': renderUpstream(cluster, workerPorts, generation),
    'locations.conf': renderLocations(cluster),
  };
}

/**
 * `max_fails=0`: one refusal never takes a worker out of rotation. The order matters: the balancing method stands before
 * `keepalive`. Upstream connections idle for 5 s at most, less than Node keeps them, so none is used while it is closed.
 */
function renderUpstream(
  { ports, config }: ClusterFile,
  workerPorts: readonly number[],
  generation: number,
): string {
  const backup = `server 127.0.0.1:${ports.backup} max_fails=0`;
  const servers =
    workerPorts.length === 0
      ? [`${backup};`]
      : [...workerPorts.map((port) => `server 127.0.0.1:${port} max_fails=0;`), `${backup} backup;`];
  const keepalive = Math.min(Math.max(64, config.limits.maxInFlight), 4_096);
  return `map $host $pagefleet_generation { default ${generation}; }
upstream pages {
  zone pages 256k;
  least_conn;
  ${servers.join('\n  ')}
  keepalive ${keepalive};
  keepalive_timeout 5s;
  keepalive_requests 1000000;
}
upstream control {
  zone control 64k;
  server 127.0.0.1:${ports.controller} max_fails=0;
  keepalive 16;
  keepalive_timeout 5s;
  keepalive_requests 1000000;
}
`;
}

/**
 * A page goes to another worker only when a connection could not be made: nginx never repeats a POST of which it sent a
 * byte, and a timeout is no error. No cap on tries, so that the backup is reached.
 */
function renderLocations({ config }: ClusterFile): string {
  const pagePaths = PAGE_PATHS.map((path) => path.slice('/v1/'.length)).join('|');
  return `location ~ ^/v1/(?:${pagePaths})$ {
  client_max_body_size ${config.limits.maxBodyBytes};
  proxy_pass http://pages;
  proxy_next_upstream error;
  proxy_next_upstream_tries 0;
  proxy_next_upstream_timeout 0;
}
location / {
  client_max_body_size ${CONTROL_BODY_BYTES};
  proxy_pass http://control;
  proxy_next_upstream off;
}
`;
}

/** Control bodies are small JSON. */
const CONTROL_BODY_BYTES = 1_048_576;
