import type { RefusalFault } from '@pagefleet/core';
import type { ApiAnswer, ApiName } from './api-call.ts';
import { type Complaint, isRecord, readComplaint } from './read-complaint.ts';

export type CreateVerdict =
  /** an id came: a pod exists, whatever else the answer says */
  | { readonly kind: 'rented'; readonly id: string; readonly pod: Record<string, unknown> }
  /** proof that nothing was bought */
  | { readonly kind: 'refused'; readonly fault: RefusalFault; readonly reason: string }
  /** perhaps a pod exists */
  | { readonly kind: 'ambiguous'; readonly reason: string; readonly cause?: unknown };

/** Sentences by which the APIs say that there is no such machine now; codes for it are not reliable (contract 2.2). */
const NO_CAPACITY = [
  /no longer any instances available/i,
  /could not find any pods with required specifications/i,
  /no instances (are )?(currently )?available/i,
  /does not have the resources to deploy your pod/i,
  /not enough free gpus on the host/i,
];
const ACCOUNT = [
  /current spending limit/i,
  /spend(ing)? (rate|limit)/i,
  /insufficient (funds|balance|credit)/i,
  /balance (is )?too low/i,
  /\bunauthorized\b/i,
  /\bforbidden\b/i,
];
const SCHEMA = [/is not defined by type/i, /cannot query field/i, /unknown argument/i];
const SCHEMA_CODES = ['GRAPHQL_VALIDATION_FAILED', 'GRAPHQL_PARSE_FAILED', 'BAD_USER_INPUT'];
/** Statuses by which a server says that it did not understand, and so did nothing. 408 and 409 are not among them. */
const NOT_UNDERSTOOD = [400, 404, 405, 406, 410, 411, 413, 414, 415, 422, 431];

interface Facts extends Complaint {
  readonly api: ApiName;
}
type Row = readonly [says: (facts: Facts) => boolean, fault: RefusalFault | 'ambiguous', note?: string];

/** The first row that holds decides; where none does, nobody knows whether a pod exists. */
const ROWS: readonly Row[] = [
  // Something of the pod could not be read back, so there was one (contract 8, row 12).
  [(f) => f.isInsideResult, 'ambiguous'],
  [(f) => f.codes.includes('SUPPLY_CONSTRAINT') || says(f, NO_CAPACITY), 'no-capacity'],
  [(f) => f.status === 429, 'wait', 'the quota of the API is used up'],
  [
    (f) => f.status === 403 && /error code: 10\d\d/.test(f.words),
    'account',
    'the firewall before RunPod refuses this User-Agent or address for good; waiting does not help',
  ],
  [(f) => f.status === 401 || f.status === 402, 'account'],
  // "Scope or pool access": another card may be had (contract 4.3).
  [(f) => f.api === 'rest' && f.status === 403 && /access denied/i.test(f.words), 'no-capacity'],
  [(f) => f.status === 403, 'account'],
  [(f) => f.status < 500 && says(f, ACCOUNT), 'account'],
  [(f) => f.status < 500 && (says(f, SCHEMA) || f.codes.some((c) => SCHEMA_CODES.includes(c))), 'request'],
  [(f) => NOT_UNDERSTOOD.includes(f.status), 'request'],
  // Its "client error", with a message that we do not know.
  [
    (f) =>
      f.status === 200 && f.codes.length > 0 && f.codes.every((code) => code === 'RUNPOD') && !isCatchAll(f),
    'request',
  ],
];

function says({ words }: Complaint, sentences: readonly RegExp[]): boolean {
  return sentences.some((sentence) => sentence.test(words));
}

function isCatchAll({ words }: Complaint): boolean {
  return /something went wrong/i.test(words);
}

/** What the answer to a paid call means (contract 2.2, 4.3, 9). */
export function classifyCreate(answer: ApiAnswer, api: ApiName): CreateVerdict {
  switch (answer.kind) {
    case 'withheld':
      return refusal('wait', `the ${api} API is not asked before ${new Date(answer.untilMs).toISOString()}`);
    case 'not-sent':
      return refusal('wait', `the ${api} API was not reached: ${messageOf(answer.cause)}`);
    case 'lost':
      return {
        kind: 'ambiguous',
        reason: `the answer was lost: ${messageOf(answer.cause)}`,
        cause: answer.cause,
      };
    case 'answered': {
      const pod = podOf(answer.body, api);
      if (pod !== null) return { kind: 'rented', ...pod };
      const facts = { ...readComplaint(answer), api };
      const [, fault, note] = ROWS.find(([holds]) => holds(facts)) ?? [null, 'ambiguous' as const];
      const said = [`HTTP ${facts.status}`, facts.words, note].filter(Boolean).join(': ');
      return fault === 'ambiguous' ? { kind: 'ambiguous', reason: said } : refusal(fault, said);
    }
  }
}

/** The pod in the answer, if it has an id. GraphQL may send one together with errors. */
function podOf(body: unknown, api: ApiName): { id: string; pod: Record<string, unknown> } | null {
  if (!isRecord(body)) return null;
  const candidates = api === 'rest' ? [body] : isRecord(body.data) ? Object.values(body.data) : [];
  for (const pod of candidates) {
    if (isRecord(pod) && typeof pod.id === 'string' && pod.id !== '') return { id: pod.id, pod };
  }
  return null;
}

function refusal(fault: RefusalFault, reason: string): CreateVerdict {
  return { kind: 'refused', fault, reason };
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}
