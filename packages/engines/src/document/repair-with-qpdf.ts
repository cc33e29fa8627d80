import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunOutcome, runProgram } from '../run-program.ts';

export type Repair =
  | { readonly outcome: 'repaired'; readonly bytes: Uint8Array }
  | { readonly outcome: 'encrypted' }
  | { readonly outcome: 'failed'; readonly reason: string };

const REPAIR_TIMEOUT_MS = 10_000;
/** A repaired file is about as large as its original; far more is a bomb. */
const MAX_GROWTH = 4;
const MAX_GROWTH_SLACK_BYTES = 16 * 1024 * 1024;

const ABSENT = 'the second reader, the program qpdf, is not installed here';

const QUIET = ['--warning-exit-0', '--no-warn'];

/** Rewrites a PDF whole: lost cross references are found again by scanning. */
export function repairWithQpdf(bytes: Uint8Array, program = 'qpdf'): Promise<Repair> {
  return rewrite(program, bytes, (path) => [...QUIET, '--decrypt', path, '-']);
}

/** Moves every page that the tree holds into a new file, whose count is then true. */
export function rebuildWithQpdf(bytes: Uint8Array, program = 'qpdf'): Promise<Repair> {
  return rewrite(program, bytes, (path) => [...QUIET, '--empty', '--pages', path, '1-z', '--', '-']);
}

async function rewrite(
  program: string,
  bytes: Uint8Array,
  argsFor: (path: string) => string[],
): Promise<Repair> {
  const maxOutputBytes = bytes.length * MAX_GROWTH + MAX_GROWTH_SLACK_BYTES;
  const run = await runQpdf(program, bytes, argsFor, maxOutputBytes);
  if (run.outcome === 'absent') return { outcome: 'failed', reason: ABSENT };
  if (run.outcome === 'killed') return { outcome: 'failed', reason: `qpdf was ended (${run.because})` };
  if (run.exitCode === 0) return { outcome: 'repaired', bytes: run.stdout };
  if (run.stderr.includes('invalid password')) return { outcome: 'encrypted' };
  return { outcome: 'failed', reason: 'qpdf cannot repair it' };
}

/** How many pages there really are, found by walking the page tree, not by believing its count; null when unknown. */
export async function countPagesWithQpdf(bytes: Uint8Array, program = 'qpdf'): Promise<number | null> {
  const run = await runQpdf(
    program,
    bytes,
    (path) => [...QUIET, '--json=2', '--json-key=pages', path],
    64 * 1024 * 1024,
  );
  if (run.outcome !== 'exited' || run.exitCode !== 0) return null;
  try {
    const parsed: unknown = JSON.parse(run.stdout.toString('utf8'));
    const pages = typeof parsed === 'object' && parsed !== null && 'pages' in parsed ? parsed.pages : null;
    return Array.isArray(pages) ? pages.length : null;
  } catch {
    return null;
  }
}

async function runQpdf(
  program: string,
  bytes: Uint8Array,
  argsFor: (path: string) => string[],
  maxOutputBytes: number,
): Promise<RunOutcome> {
  // qpdf seeks, so it cannot read its input from a pipe.
  const folder = await mkdtemp(join(tmpdir(), 'pagefleet-qpdf-'));
  try {
    const path = join(folder, 'in.pdf');
    await writeFile(path, bytes, { mode: 0o600 });
    return await runProgram(program, argsFor(path), { timeoutMs: REPAIR_TIMEOUT_MS, maxOutputBytes });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
