import { ERRORS, PagefleetError } from '@pagefleet/contract';

/** One clear line, no stack trace; returns the exit code of the catalogue. */
export function printError(error: unknown): number {
  if (error instanceof PagefleetError) {
    console.error(`pagefleet: ${error.message}`);
    return ERRORS[error.code].exitCode;
  }
  if ((error as Error)?.name === 'AbortError') return ERRORS.interrupted.exitCode;
  // Whoever reads our output, such as `head`, has enough.
  if ((error as NodeJS.ErrnoException)?.code === 'EPIPE') return 0;
  const detail = error instanceof Error ? error.message : String(error);
  console.error(`pagefleet: a fault of ours: ${detail}`);
  if (process.env.PAGEFLEET_DEBUG && error instanceof Error) console.error(error.stack);
  return ERRORS.internal.exitCode;
}
