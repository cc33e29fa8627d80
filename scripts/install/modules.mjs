import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../node-binary.mjs';

const STAMP = join(root, 'node_modules', '.pagefleet-installed');

/** Installs the npm packages, Node 24 among them, when the lock file is not the one that was installed last. */
export function ensureModules() {
  const wanted = fingerprint();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return;
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  console.log(`Installing the npm packages with ${packageManager}`);
  const args = [
    '-y',
    packageManager,
    'install',
    '--frozen-lockfile',
    '--config.confirmModulesPurge=false',
    '--loglevel=error',
  ];
  const { status } = spawnSync('npx', args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) {
    console.error('Installing the npm packages failed; its output is above.');
    process.exit(1);
  }
  writeFileSync(STAMP, wanted);
}

function fingerprint() {
  const hash = createHash('sha256');
  for (const name of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) hash.update(readFileSync(join(root, name)));
  return hash.update(`${process.platform} ${process.arch} ${root}`).digest('hex');
}
