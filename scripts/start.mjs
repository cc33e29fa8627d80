/**
 * `npm start`: brings the real cluster up on this machine, reads the bundled sample through it and stays until Ctrl-C.
 * Plain Node 20 without dependencies: it runs before anything is installed. Arguments go on to `pagefleet up`.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureModules } from './install/modules.mjs';
import { RUN_PACKAGES } from './install/packages.mjs';
import { ensureSystemPackages } from './install/system.mjs';
import { nodeBinary, root } from './node-binary.mjs';

ensureSystemPackages(RUN_PACKAGES);
ensureModules();

const args = [join(root, 'packages', 'cli', 'src', 'main.ts'), 'up', '--demo', ...process.argv.slice(2)];
const env = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node-compile'), ...process.env };
const cli = spawn(nodeBinary(), args, { cwd: root, env, stdio: 'inherit' });

// A terminal's Ctrl-C reaches the whole group and npm passes it on once more: the command line takes those for one press.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => cli.kill(signal));
cli.on('error', (error) => {
  console.error(`Cannot start ${nodeBinary()}: ${error.message}`);
  process.exitCode = 1;
});
cli.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal ? 1 : 0);
});
