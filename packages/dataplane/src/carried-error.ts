import { PagefleetError } from '@pagefleet/contract';

/** An error on its way out of a thread or child process: classes do not survive the copy. */
export interface CarriedError {
  readonly code: PagefleetError['code'];
  readonly message: string;
  readonly details: PagefleetError['details'];
  /** for the log: a fault of ours shows no inner text to a client */
  readonly cause?: string;
}

export function carryError(cause: unknown): CarriedError {
  if (cause instanceof PagefleetError) {
    return { code: cause.code, message: cause.message, details: cause.details };
  }
  return { code: 'internal', message: 'a fault of ours', details: {}, cause: String(cause) };
}

export function reviveError({ code, message, details, cause }: CarriedError): PagefleetError {
  return new PagefleetError(code, message, cause === undefined ? { details } : { details, cause });
}
