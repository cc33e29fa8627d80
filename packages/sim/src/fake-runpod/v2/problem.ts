import { type Answer, json } from '../http/answer.ts';

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
};

export const CAPACITY_DETAIL =
  'There are no longer any instances available with the requested specifications. Please refresh and try again.';

/** Thrown by handlers, sent as `application/problem+json`. */
export class Problem extends Error {
  readonly status: number;
  readonly errors: readonly string[];

  constructor(status: number, detail: string, errors: readonly string[] = []) {
    super(detail);
    this.status = status;
    this.errors = errors;
  }
}

export function problemAnswer(problem: Problem, headers: Record<string, string> = {}): Answer {
  const { status, message: detail, errors } = problem;
  const body = { title: TITLES[status] ?? 'Error', status, detail, ...(errors.length > 0 ? { errors } : {}) };
  return json(status, body, { 'content-type': 'application/problem+json', ...headers });
}
