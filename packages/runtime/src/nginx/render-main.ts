import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterFile } from '@pagefleet/contract';
import { repoRoot } from '../program-path.ts';
import { clusterPaths } from '../state/cluster-paths.ts';
import { fillTemplate } from './fill-template.ts';
import { type NginxBox, sizeNginx } from './size-nginx.ts';

/** nginx's `info` has a line for every connection; what we call info is at most a warning there. */
const LOG_LEVELS = { debug: 'info', info: 'warn', warn: 'warn', error: 'error' } as const;

/** The main file of nginx. It includes the generation that `current` points to, by that very path. */
export function renderNginxMain(cluster: ClusterFile, box: NginxBox): string {
  const paths = clusterPaths(cluster.stateDir);
  const { clamped: _, ...sizes } = sizeNginx(cluster.config, box);
  const { host, port } = cluster.config.listen;
  const template = readFileSync(join(repoRoot(), 'nginx', 'nginx.conf.template'), 'utf8');
  return fillTemplate(template, {
    ...sizes,
    nginxDir: quotable(paths.nginxDir),
    generationDir: quotable(paths.nginxCurrentLink),
    listen: `${host.includes(':') ? `[${host}]` : host}:${port}`,
    logLevel: LOG_LEVELS[cluster.config.logLevel],
  });
}

/** nginx splits unquoted words at blanks, semicolons and braces, and expands `$`: such a path cannot be written down. */
function quotable(path: string): string {
  if (/[\s;{}$"'\\#]/.test(path)) {
    throw new Error(`the state directory ${path} holds a character that nginx cannot take in a path`);
  }
  return path;
}
