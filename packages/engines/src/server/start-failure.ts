import { PagefleetError } from '@pagefleet/contract';
import { ServerRefusal } from '../vlm/model-server.ts';

export interface FailedStart {
  /** program and arguments as started */
  readonly program: string;
  /** how it ended, as in `ServerExit.how`; or why it was given up */
  readonly why: string;
  /** null: it did not end by itself, or by a signal */
  readonly exitCode: number | null;
  /** what it printed last, without secrets */
  readonly tail: string;
}

/** Of what a program printed, as much as people can read in one message. */
const TOLD_LINES = 12;
const TOLD_CHARS = 900;
const OUT_OF_MEMORY = /out of memory|OutOfMemoryError|No available memory for the cache blocks/i;
/** Python's argument parser, and so vLLM, ends with this for arguments it does not know. */
const EXIT_USAGE = 2;

/**
 * Why a model server did not start. `config_invalid` where starting it again cannot help, since it is told what this card or
 * this version cannot do; else `engine_not_ready`.
 */
export function startFailure({ program, why, exitCode, tail }: FailedStart): PagefleetError {
  const said = tail === '' ? 'It printed nothing.' : `Its last lines: ${lastLines(tail)}`;
  if (OUT_OF_MEMORY.test(tail)) {
    return new PagefleetError(
      'config_invalid',
      `the model server ${program} ran out of memory at its start: lower vllm.max_model_len, vllm.gpu_memory_utilization or the width, or rent a larger card. ${said}`,
    );
  }
  const message = `the model server ${program} did not start: ${why}. ${said}`;
  return new PagefleetError(exitCode === EXIT_USAGE ? 'config_invalid' : 'engine_not_ready', message);
}

const TOLD_BODY_CHARS = 300;

/**
 * Why a small page of ours was not read, time and again. `config_invalid` where the server says that it does not take what it
 * was asked: another model is served than the engine expects; else `engine_not_ready`.
 */
export function trialFailure(cause: unknown): PagefleetError {
  if (!(cause instanceof ServerRefusal)) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return new PagefleetError('engine_not_ready', `the model server did not read a small page: ${why}`, {
      cause,
    });
  }
  const { status, body } = cause;
  const said = body.trim() === '' ? 'nothing' : body.trim().slice(0, TOLD_BODY_CHARS);
  const isRefused = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return new PagefleetError(
    isRefused ? 'config_invalid' : 'engine_not_ready',
    `the model server answered a small page with ${status} and said: ${said}`,
    { cause },
  );
}

function lastLines(tail: string): string {
  const lines = tail.split('\n').slice(-TOLD_LINES);
  return lines.join('\n').slice(-TOLD_CHARS);
}
