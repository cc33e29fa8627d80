import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { ClusterFile, Config } from '@pagefleet/contract';
import { readApiKey } from '@pagefleet/providers';
import { type ClusterPaths, loadOrCreateSecret, realNodeBinary, writeFileAtomic } from '@pagefleet/runtime';
import { choosePorts } from './choose-ports.ts';
import { keepApiKey } from './keep-api-key.ts';
import { writeNatsFiles } from './nats-files.ts';
import { writeNginxFiles } from './nginx-files.ts';
import { readClusterFile } from './read-cluster-file.ts';
import { renderSupervisord } from './render-supervisord.ts';

/** Writes everything the programs of the cluster read at their start. Only called while none of them runs. */
export async function prepareCluster(paths: ClusterPaths, given: Config): Promise<ClusterFile> {
  const config = await keepApiKey(paths, given, process.env);
  if (config.runpod.apiKeyFile !== '') readApiKey(config.runpod.apiKeyFile);
  const ports = await choosePorts(config.workers, readClusterFile(paths)?.ports ?? null);
  const cluster: ClusterFile = {
    v: 1,
    clusterId: loadOrCreateSecret(paths.secretFile, { keyFile: config.secretKeyFile }).clusterId,
    stateDir: paths.stateDir,
    config,
    ports,
    natsUrl: `nats://127.0.0.1:${ports.nats}`,
    natsCredentialsFile: paths.natsCredentialsFile,
    secretFile: paths.secretFile,
    operatorTokenFile: paths.operatorTokenFile,
    nodeBinary: realNodeBinary(),
  };
  await writeFileAtomic(paths.clusterFile, `${JSON.stringify(cluster, null, 2)}\n`, 0o600);
  if (!existsSync(paths.operatorTokenFile)) {
    await writeFileAtomic(paths.operatorTokenFile, randomBytes(24).toString('hex'), 0o600);
  }
  await writeNatsFiles(paths, ports.nats);
  await writeNginxFiles(paths, cluster);
  await writeFileAtomic(paths.supervisorConfFile, renderSupervisord(cluster), 0o600);
  return cluster;
}

/** Empty where the file is lost: the controller then refuses, and an end goes on without it. */
export function readOperatorToken(cluster: ClusterFile): string {
  if (!existsSync(cluster.operatorTokenFile)) return '';
  return readFileSync(cluster.operatorTokenFile, 'utf8').trim();
}
