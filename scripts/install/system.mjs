import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { root } from '../node-binary.mjs';

/** Debian keeps daemons in folders that are not on everyone's path. */
const FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'];

/**
 * Installs what is missing and names it first. Says what to do and ends the process with 1 when it may not or cannot.
 * @param {readonly {apt: string, program?: string, language?: string, brew: string}[]} packages
 */
export function ensureSystemPackages(packages) {
  const missing = missingOf(packages);
  if (missing.length === 0) return;
  const names = missing.map((item) => item.apt);
  if (!hasProgram('apt-get')) {
    const needed = [...new Set(missing.map((item) => item.brew))].join(' ');
    stop(`This system has no apt, so nothing was installed. Please install: ${needed}`);
  }
  const command = ['sh', join(root, 'scripts', 'install', 'apt-install.sh'), ...names];
  const asRoot = process.getuid?.() === 0 ? [] : mayUseSudo() ? ['sudo', '-n'] : null;
  if (!asRoot) {
    stop(
      `Missing: ${names.join(', ')}. Not root, and sudo asks for a password. Please run:\n\n  sudo ${command.join(' ')}\n`,
    );
  }
  console.log(`Installing with apt, starting and enabling no service: ${names.join(', ')}`);
  const [program, ...args] = [...asRoot, ...command];
  const { status } = spawnSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const still = missingOf(packages).map((item) => item.apt);
  if (status !== 0 || still.length > 0) {
    stop(
      `Installing failed${still.length > 0 ? `; still missing: ${still.join(', ')}` : ''}. Its output is above.`,
    );
  }
}

function missingOf(packages) {
  const missing = packages.filter((item) => item.program && !hasProgram(item.program));
  const wanted = packages.filter((item) => item.language);
  if (wanted.length === 0) return missing;
  const languages = new Set(hasProgram('tesseract') ? installedLanguages() : []);
  return [...missing, ...wanted.filter((item) => !languages.has(item.language))];
}

function installedLanguages() {
  const { stdout } = spawnSync('tesseract', ['--list-langs'], { encoding: 'utf8' });
  return (stdout ?? '').split('\n').map((line) => line.trim());
}

function hasProgram(name) {
  return FOLDERS.some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function mayUseSudo() {
  return hasProgram('sudo') && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
