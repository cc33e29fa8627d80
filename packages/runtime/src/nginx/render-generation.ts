import { type ClusterFile, ERRORS, WIDTH_HEADERS } from '@pagefleet/contract';

/** Paths whose work the workers do; everything else is the controller's. */
const PAGE_PATHS = [
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
${renderRefusals()}`;
}

/**
 * A worker answers before it has read the body: full, no key, too large. Passed on as it is, a pooled client would send its
 * next request into a connection whose rest is thrown away (measured: 1–4 % of requests cut). So the worker names one of
 * these places (`X-Accel-Redirect: @refused_429`) and the connection is closed, and says so. Body and headers are the
 * worker's own. It is done by that header and not by `proxy_intercept_errors`, which would also swallow the bodies of the
 * 502, 503 and 504 that workers make, or leave nginx's own without one.
 */
function renderRefusals(): string {
  const headers = ['Retry-After', 'X-Request-Id', ...Object.values(WIDTH_HEADERS)].map(
    (name) => `  add_header ${name} $upstream_http_${name.toLowerCase().replaceAll('-', '_')} always;`,
  );
  const statuses = new Set(Object.values(ERRORS).map((row) => row.httpStatus));
  statuses.delete(ERRORS.client_gone.httpStatus);
  return [...statuses]
    .sort((a, b) => a - b)
    .map(
      (status) => `location @refused_${status} {
  keepalive_timeout 0;
${headers.join('\n')}
  return ${status} $upstream_http_x_refusal;
}
`,
    )
    .join('');
}

/** Control bodies are small JSON. */
const CONTROL_BODY_BYTES = 1_048_576;
