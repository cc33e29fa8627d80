import { PagefleetError } from '@pagefleet/contract';
import type { ApiAnswer, ApiName } from './api-call.ts';
import { readComplaint } from './read-complaint.ts';

type Answered = Extract<ApiAnswer, { kind: 'answered' }>;

/** Something between us and RunPod, or in it, failed; the same call may do better, or the other API. */
export function isPassing(answer: ApiAnswer): boolean {
  return (
    answer.kind === 'lost' ||
    answer.kind === 'not-sent' ||
    (answer.kind === 'answered' && answer.status >= 500)
  );
}

/**
 * The answer, if it is what was asked for. A GraphQL answer with errors is a failure although it says 200: what it holds
 * besides is not complete.
 */
export function goodAnswer(answer: ApiAnswer, api: ApiName): Answered | null {
  if (answer.kind !== 'answered' || answer.status < 200 || answer.status > 299) return null;
  const errors = (answer.body as { errors?: unknown } | null | undefined)?.errors;
  const isComplete = api === 'rest' || !Array.isArray(errors) || errors.length === 0;
  return isComplete ? answer : null;
}

/** What a call that is not a create failed with. Neither key nor body is in it. */
export function failureOf(answer: ApiAnswer, api: ApiName, what: string): PagefleetError {
  switch (answer.kind) {
    case 'withheld': {
      const until = new Date(answer.untilMs).toISOString();
      return new PagefleetError(
        'provider_failed',
        `${what}: RunPod’s ${api} API may not be asked before ${until}`,
      );
    }
    case 'not-sent':
    case 'lost': {
      const { cause } = answer;
      const words = answer.kind === 'lost' ? 'the answer was lost' : 'no connection';
      return new PagefleetError('provider_failed', `${what}: ${words} (RunPod’s ${api} API)`, { cause });
    }
    case 'answered': {
      const { words } = readComplaint(answer);
      const said = words === '' ? `HTTP ${answer.status}` : `HTTP ${answer.status}: ${words}`;
      return new PagefleetError('provider_failed', `${what}: RunPod’s ${api} API answered ${said}`);
    }
  }
}
