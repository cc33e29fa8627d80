import type { ErrorCode } from '@pagefleet/contract';

/** Statuses that are between us and the pod, whoever writes them there. */
const BETWEEN_US: ReadonlySet<number> = new Set([401, 403, 409, 429]);

interface AnswerHead {
  readonly status: number;
  readonly contentType: string;
}

/**
 * Whether a pod’s answer is the client’s. `code` is the catalogue’s code in its body, by which a gateway is told from the
 * model server behind it: what that says about the request (400, 404, 422) is passed on as it is, R-024; all else is the
 * pod’s failure and goes through the table of DESIGN 7.6.
 */
export function isForClient({ status, contentType }: AnswerHead, code: ErrorCode | null): boolean {
  if (status >= 200 && status < 300) return true;
  // A model server speaks JSON; anything else was written on the way to it.
  if (!contentType.startsWith('application/json')) return false;
  return status >= 400 && status < 500 && code === null && !BETWEEN_US.has(status);
}
