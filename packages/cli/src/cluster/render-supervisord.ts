import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterFile } from '@pagefleet/contract';
import { clusterPaths, fillTemplate, observeNginxBox, programPath, repoRoot } from '@pagefleet/runtime';
import { findProgram } from './find-program.ts';

/** Above the longest a page may take: a stopping program finishes its pages. */
const STOP_MARGIN_SECONDS = 30;
const MAX_DESCRIPTORS = 65_536;

export function renderSupervisord(cluster: ClusterFile): string {
  const paths = clusterPaths(cluster.stateDir);
  const template = readFileSync(join(repoRoot(), 'supervisord', 'supervisord.conf.template'), 'utf8');
  return fillTemplate(template, {
    stateDir: paths.stateDir,
    stateDirValue: `"${paths.stateDir}"`,
    logsDir: paths.logsDir,
    supervisorDir: paths.supervisorDir,
    natsDir: paths.natsDir,
    natsConfFile: paths.natsConfFile,
    nginxDir: paths.nginxDir,
    natsServer: word(findProgram('nats-server')),
    nginx: word(findProgram('nginx')),
    runNginx: word(join(repoRoot(), 'supervisord', 'run-nginx.sh')),
    node: word(cluster.nodeBinary),
    controllerMain: word(programPath('controller')),
    workerMain: word(programPath('worker')),
    workersStart: cluster.config.workers > 0 ? 'true' : 'false',
    descriptors: Math.min(observeNginxBox().descriptors, MAX_DESCRIPTORS),
    stopSeconds: Math.ceil(cluster.config.limits.pageDeadlineMs / 1_000) + STOP_MARGIN_SECONDS,
    // supervisord warns unless it is told that root is meant.
    userLine: process.getuid?.() === 0 ? 'user=root' : '; runs as the user who started it',
  });
}

/** One word of a command line, as supervisord splits it: shell quoting, and `%` is its own sign. */
function word(path: string): string {
  const escaped = path.replaceAll('%', '%%');
  return /^[\w@+=:,./%-]+$/.test(path) ? escaped : `"${escaped.replace(/["\\]/g, '\\$&')}"`;
}
