import { mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NginxOutcome } from './run-nginx.ts';

export interface GenerationOptions {
  /** holds nginx.conf, gen-<n>/ and the symlink `current`; all absolute */
  readonly folder: string;
  readonly render: (ports: readonly number[], generation: number) => Readonly<Record<string, string>>;
  readonly run: (args: readonly string[]) => Promise<NginxOutcome>;
  /** what nginx answers now, null = nothing */
  readonly ask: () => Promise<number | null>;
  readonly confirmTimeoutMs: number;
}

export type SwapOutcome =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'swapped'; readonly generation: number }
  /** in place and tested, but nginx is not running: it will read it when it starts */
  | { readonly kind: 'waiting_for_nginx'; readonly generation: number }
  /** the generation in force stays */
  | { readonly kind: 'refused'; readonly generation: number; readonly detail: string };

/**
 * Replaces the set of workers nginx knows: a new folder, tested through a main file that includes it, swapped by one
 * rename, reloaded. It counts when nginx itself answers the new number; otherwise the old one is put back.
 */
export async function applyGeneration(
  ports: readonly number[],
  options: GenerationOptions,
): Promise<SwapOutcome> {
  const before = await currentGeneration(options.folder);
  if (before !== null && (await samePorts(options, before, ports))) return { kind: 'unchanged' };
  const generation = (await newestGeneration(options.folder)) + 1;
  await writeGeneration(options, ports, generation);
  const tested = await testCandidate(options, generation);
  if (tested.kind === 'failed') {
    await rm(generationFolder(options.folder, generation), { recursive: true, force: true });
    return { kind: 'refused', generation, detail: tested.detail };
  }
  await pointTo(options.folder, generation);
  if ((await options.ask()) === null) return { kind: 'waiting_for_nginx', generation };
  const reloaded = await options.run([
    '-e',
    'stderr',
    '-s',
    'reload',
    '-c',
    join(options.folder, 'nginx.conf'),
  ]);
  if (reloaded.kind === 'ok' && (await isConfirmed(options, generation))) {
    await removeOthers(options.folder, [generation, before]);
    return { kind: 'swapped', generation };
  }
  if (before !== null) await pointTo(options.folder, before);
  const detail = reloaded.kind === 'failed' ? reloaded.detail : 'nginx still answers the old generation';
  return { kind: 'refused', generation, detail };
}

/** The number `current` points to; null = no generation yet. */
export async function currentGeneration(folder: string): Promise<number | null> {
  try {
    return parseGenerationName(await readlink(join(folder, 'current')));
  } catch {
    return null;
  }
}

/** Compared as rendered text, so that a changed template counts as a change too. */
async function samePorts(
  options: GenerationOptions,
  generation: number,
  ports: readonly number[],
): Promise<boolean> {
  const folder = generationFolder(options.folder, generation);
  for (const [name, wanted] of Object.entries(options.render(ports, generation))) {
    const present = await readFile(join(folder, name), 'utf8').catch(() => null);
    if (present !== wanted) return false;
  }
  return true;
}

async function writeGeneration(
  options: GenerationOptions,
  ports: readonly number[],
  generation: number,
): Promise<void> {
  const folder = generationFolder(options.folder, generation);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const [name, text] of Object.entries(options.render(ports, generation))) {
    await writeFile(join(folder, name), text, { mode: 0o600 });
  }
}

async function testCandidate(options: GenerationOptions, generation: number): Promise<NginxOutcome> {
  const main = await readFile(join(options.folder, 'nginx.conf'), 'utf8').catch(() => '');
  const inForce = join(options.folder, 'current');
  if (!main.includes(inForce)) {
    return { kind: 'failed', detail: 'the main file does not include the current generation' };
  }
  const candidate = join(options.folder, 'candidate.conf');
  await writeFile(candidate, main.replaceAll(inForce, generationFolder(options.folder, generation)), {
    mode: 0o600,
  });
  return await options.run(['-e', 'stderr', '-t', '-q', '-c', candidate]);
}

async function isConfirmed(options: GenerationOptions, generation: number): Promise<boolean> {
  const deadline = performance.now() + options.confirmTimeoutMs;
  while (performance.now() < deadline) {
    if ((await options.ask()) === generation) return true;
    await sleep(50);
  }
  return false;
}

async function pointTo(folder: string, generation: number): Promise<void> {
  const fresh = join(folder, 'current.new');
  await rm(fresh, { force: true });
  await symlink(`gen-${generation}`, fresh);
  await rename(fresh, join(folder, 'current'));
}

async function newestGeneration(folder: string): Promise<number> {
  const numbers = (await readdir(folder)).map((name) => parseGenerationName(name) ?? 0);
  return Math.max(0, ...numbers);
}

async function removeOthers(folder: string, keep: readonly (number | null)[]): Promise<void> {
  for (const name of await readdir(folder)) {
    const generation = parseGenerationName(name);
    if (generation !== null && !keep.includes(generation)) {
      await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}

function generationFolder(folder: string, generation: number): string {
  return join(folder, `gen-${generation}`);
}

function parseGenerationName(name: string): number | null {
  const match = /(?:^|\/)gen-(\d+)$/.exec(name);
  return match === null ? null : Number(match[1]);
}
