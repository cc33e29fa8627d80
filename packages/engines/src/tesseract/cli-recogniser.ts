import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { PagefleetError } from '@pagefleet/contract';
import type { Picture } from '../document/draw-picture.ts';
import { type RunOutcome, runProgram } from '../run-program.ts';
import { parseTsv, type Reading } from './parse-tsv.ts';
import { isRotation, type Recogniser, type Rotation } from './recogniser.ts';

/** Several OpenMP threads fight for the cores: the same pages took seven times as long. */
const ONE_THREAD = { OMP_THREAD_LIMIT: '1' };
const AUTOMATIC_SEGMENTATION = '3';
const ORIENTATION_ONLY = '0';
const MAX_TSV_BYTES = 64 * 1024 * 1024;
const QUESTION_TIMEOUT_MS = 10_000;
const NEVER = new AbortController().signal;

export function findTesseract(path = process.env.PATH ?? ''): string | null {
  for (const folder of path.split(delimiter)) {
    const program = join(folder, 'tesseract');
    try {
      accessSync(program, constants.X_OK);
      return program;
    } catch {
      // The next folder of PATH may have it.
    }
  }
  return null;
}

/** One process per page: it uses one core, can be killed at any moment and leaves no memory behind. */
export function createCliRecogniser(program: string): Recogniser {
  let version = 'unknown';
  let languages: readonly string[] = [];

  async function open(): Promise<void> {
    const [versionText, languagesText] = await Promise.all([
      ask(program, '--version'),
      ask(program, '--list-langs'),
    ]);
    version = /tesseract\s+v?(\S+)/.exec(versionText)?.[1] ?? 'unknown';
    languages = languagesText
      .split('\n')
      .slice(1)
      .map((line) => line.trim())
      .filter((line) => line !== '');
  }

  async function recognise(
    picture: Picture,
    asked: readonly string[],
    signal: AbortSignal,
  ): Promise<Reading> {
    const args = ['stdin', 'stdout', '--psm', AUTOMATIC_SEGMENTATION, '-l', asked.join('+')];
    const run = await runOnPicture(program, picture, [...args, ...dpiArgs(picture), 'tsv'], signal);
    return parseTsv(outputOf(run, signal));
  }

  async function detectRotation(picture: Picture, signal: AbortSignal): Promise<Rotation | null> {
    if (!languages.includes('osd')) return null;
    const args = ['stdin', 'stdout', '--psm', ORIENTATION_ONLY, ...dpiArgs(picture)];
    const run = await runOnPicture(program, picture, args, signal);
    // Too little text to tell ends with an error of its own; it is an answer here.
    if (run.outcome === 'exited' && run.exitCode !== 0) return null;
    const degrees = Number(/^Rotate:\s*(\d+)/m.exec(outputOf(run, signal))?.[1]);
    return isRotation(degrees) ? degrees : null;
  }

  return {
    name: 'tesseract',
    version: () => version,
    open,
    languages: () => languages,
    recognise,
    detectRotation,
    close: async () => undefined,
  };
}

function runOnPicture(
  program: string,
  picture: Picture,
  args: string[],
  signal: AbortSignal,
): Promise<RunOutcome> {
  // The page's deadline is in the signal; the process needs no second one.
  const timeoutMs = 2 ** 31 - 1;
  return runProgram(program, args, {
    stdin: picture.png,
    env: ONE_THREAD,
    timeoutMs,
    maxOutputBytes: MAX_TSV_BYTES,
    signal,
  });
}

/** Without a density Tesseract estimates one from the letters, which beats any guess. */
function dpiArgs(picture: Picture): string[] {
  return picture.dpi === null ? [] : ['--dpi', String(Math.max(70, picture.dpi))];
}

function outputOf(run: RunOutcome, signal: AbortSignal): string {
  if (run.outcome === 'exited' && run.exitCode === 0) return run.stdout.toString('utf8');
  signal.throwIfAborted();
  if (run.outcome === 'absent')
    throw new PagefleetError('engine_not_ready', 'the program tesseract is not there any more');
  if (run.outcome === 'killed')
    throw new PagefleetError('engine_failed', `tesseract was ended (${run.because})`);
  const lastLine = run.stderr.trim().split('\n').at(-1) ?? '';
  throw new PagefleetError('engine_failed', `tesseract ended with exit code ${run.exitCode}: ${lastLine}`);
}

async function ask(program: string, question: string): Promise<string> {
  const run = await runProgram(program, [question], {
    env: ONE_THREAD,
    timeoutMs: QUESTION_TIMEOUT_MS,
    maxOutputBytes: 1024 * 1024,
  });
  if (run.outcome === 'absent')
    throw new PagefleetError('engine_not_ready', 'the program tesseract is not installed');
  return outputOf(run, NEVER) || (run.outcome === 'exited' ? run.stderr : '');
}
