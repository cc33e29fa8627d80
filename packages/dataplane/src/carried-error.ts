import { PagefleetError } from '@pagefleet/contract';

/** An error on its way out of a thread or child process: classes do not survive the copy. */
export interface CarriedError {
  readonly code: PagefleetError['code'];
  readonly message: string;
  readonly details: PagefleetError['details'];
}

export function carryError(cause: unknown): CarriedError {
  if (cause instanceof PagefleetError) {
    return { code: cause.code, message: cause.message, details: cause.details };
  }
  return { code: 'internal', message: cause instanceof Error ? cause.message : String(cause), details: {} };
}

export function reviveError(carried: CarriedError): PagefleetError {
  return new PagefleetError(carried.code, carried.message, { details: carried.details });
}
