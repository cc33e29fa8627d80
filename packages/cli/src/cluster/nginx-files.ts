import { existsSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterFile } from '@pagefleet/contract';
import {
  type ClusterPaths,
  observeNginxBox,
  renderGeneration,
  renderNginxMain,
  writeFileAtomic,
} from '@pagefleet/runtime';

/**
 * The main file, and a fresh generation with every worker port of this life: nginx starts with it, the controller goes on
 * from there. Older generations belong to ports that may be others' by now.
 */
export async function writeNginxFiles(paths: ClusterPaths, cluster: ClusterFile): Promise<void> {
  const generation = newestGeneration(paths.nginxDir) + 1;
  const folder = paths.nginxGenerationDir(generation);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const [name, text] of Object.entries(renderGeneration(cluster, cluster.ports.workers, generation))) {
    await writeFileAtomic(join(folder, name), text, 0o600);
  }
  const fresh = `${paths.nginxCurrentLink}.new`;
  rmSync(fresh, { force: true });
  symlinkSync(`gen-${generation}`, fresh);
  renameSync(fresh, paths.nginxCurrentLink);
  await writeFileAtomic(paths.nginxConfFile, renderNginxMain(cluster, observeNginxBox()), 0o600);
  removeOlder(paths, generation);
}

function newestGeneration(folder: string): number {
  return Math.max(0, ...generationsIn(folder));
}

function removeOlder(paths: ClusterPaths, newest: number): void {
  for (const generation of generationsIn(paths.nginxDir)) {
    if (generation < newest) rmSync(paths.nginxGenerationDir(generation), { recursive: true, force: true });
  }
}

function generationsIn(folder: string): number[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const match = /^gen-(\d+)$/.exec(name);
    return match ? [Number(match[1])] : [];
  });
}
