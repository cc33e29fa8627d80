import { describe, expect, it } from 'vitest';
import type { ApiAnswer, ApiName } from './api-call.ts';
import { classifyCreate } from './classify-create.ts';

const NONE_LEFT =
  'There are no longer any instances available with the requested specifications. Please refresh and try again.';
const WRONG = 'Something went wrong. Please try again later or contact support.';
const DEPLOY = 'podFindAndDeployOnDemand';

function http(status: number, body: unknown): ApiAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    kind: 'answered',
    status,
    header: () => undefined,
    text,
    body: typeof body === 'string' ? undefined : body,
  };
}

function graphql(errors: object[] | null, result: unknown = null, status = 200): ApiAnswer {
  return http(status, { data: { [DEPLOY]: result }, ...(errors === null ? {} : { errors }) });
}

const fails = (message: string, code?: string, path: unknown[] = [DEPLOY]) => ({
  message,
  path,
  ...(code === undefined ? {} : { extensions: { code, userId: 'user_abc' } }),
});

function problem(status: number, detail: string, errors?: string[]): ApiAnswer {
  return http(status, { title: 'Problem', status, detail, ...(errors ? { errors } : {}) });
}

function verdict(answer: ApiAnswer, api: ApiName): string {
  const outcome = classifyCreate(answer, api);
  return outcome.kind === 'refused' ? outcome.fault : outcome.kind;
}

describe('the answer to a create on GraphQL (contract 2.2)', () => {
  it.each<[string, ApiAnswer, string]>([
    ['a pod', graphql(null, { id: 'k3v9q2m1x7abcd', costPerHr: 0.44 }), 'rented'],
    [
      'a pod and errors',
      graphql([fails(WRONG, 'INTERNAL_SERVER_ERROR')], { id: 'k3v9q2m1x7abcd' }),
      'rented',
    ],
    ['a pod with a 500', graphql(null, { id: 'k3v9q2m1x7abcd' }, 500), 'rented'],
    ['SUPPLY_CONSTRAINT', graphql([fails(NONE_LEFT, 'SUPPLY_CONSTRAINT')]), 'no-capacity'],
    ['SUPPLY_CONSTRAINT in other words', graphql([fails('nope', 'SUPPLY_CONSTRAINT')]), 'no-capacity'],
    ['the sentence with another code', graphql([fails(NONE_LEFT, 'RUNPOD')]), 'no-capacity'],
    [
      'the sentence with INTERNAL_SERVER_ERROR',
      graphql([fails(NONE_LEFT, 'INTERNAL_SERVER_ERROR')]),
      'no-capacity',
    ],
    ['the sentence without a code', graphql([fails(NONE_LEFT)]), 'no-capacity'],
    [
      'no host with that disk',
      graphql([fails('There are no longer any instances available with enough disk space.')]),
      'no-capacity',
    ],
    [
      'no pods found',
      graphql([fails('Could not find any pods with required specifications', 'RUNPOD')]),
      'no-capacity',
    ],
    ['none now', graphql([fails('No instances currently available')]), 'no-capacity'],
    [
      'a lost race',
      graphql([fails('This machine does not have the resources to deploy your pod', 'RUNPOD')]),
      'no-capacity',
    ],
    ['a bare null', graphql(null), 'ambiguous'],
    ['a bare null and an empty list of errors', graphql([]), 'ambiguous'],
    ['an empty id', graphql(null, { id: '' }), 'ambiguous'],
    ['INTERNAL_SERVER_ERROR', graphql([fails(WRONG, 'INTERNAL_SERVER_ERROR')]), 'ambiguous'],
    ['the catch-all without a code', graphql([fails(WRONG)]), 'ambiguous'],
    ['the catch-all with RUNPOD', graphql([fails(WRONG, 'RUNPOD')]), 'ambiguous'],
    ['an unknown code', graphql([fails('hm', 'NOVELTY')]), 'ambiguous'],
    [
      'a part of the pod not read back',
      graphql([fails('x', 'SUPPLY_CONSTRAINT', [DEPLOY, 'machine'])]),
      'ambiguous',
    ],
    ['a bad key', graphql([fails('Unauthorized', 'RUNPOD')]), 'account'],
    ['a spending limit', graphql([fails('You are over your current spending limit', 'RUNPOD')]), 'account'],
    ['another client error', graphql([fails('This feature is disabled', 'RUNPOD')]), 'request'],
    [
      'an unknown input key',
      graphql(
        [
          fails(
            'Field "objectMounts" is not defined by type "PodFindAndDeployOnDemandInput".',
            'GRAPHQL_VALIDATION_FAILED',
          ),
        ],
        null,
        400,
      ),
      'request',
    ],
    ['an unknown selection', graphql([fails('Cannot query field "x" on type "Pod".')]), 'request'],
    ['400 without JSON', http(400, '<html>Bad Request</html>'), 'request'],
    ['401', http(401, 'nope'), 'account'],
    ['403 of the firewall', http(403, 'error code: 1010'), 'account'],
    ['403', http(403, '<html>no</html>'), 'account'],
    ['408', http(408, ''), 'ambiguous'],
    ['409', http(409, ''), 'ambiguous'],
    ['429', http(429, { error: 'Too many requests', retryAfter: 3939 }), 'wait'],
    ['an HTML page with 200', http(200, '<html>welcome</html>'), 'ambiguous'],
    ['a redirect', http(302, ''), 'ambiguous'],
    ['500', http(500, { error: 'x' }), 'ambiguous'],
    ['500 that is unauthorized inside', http(500, { error: 'upstream said: Unauthorized' }), 'ambiguous'],
    ['502 HTML', http(502, '<html><h1>502 Bad Gateway</h1></html>'), 'ambiguous'],
    ['no JSON', http(200, 'unexpected end'), 'ambiguous'],
    ['JSON null', http(200, null), 'ambiguous'],
  ])('%s', (_name, answer, expected) => {
    expect(verdict(answer, 'graphql')).toBe(expected);
  });
});

describe('the answer to a create on REST v2 (contract 4.3)', () => {
  it.each<[string, ApiAnswer, string]>([
    ['201 with a pod', http(201, { id: 'k3v9q2m1x7abcd' }), 'rented'],
    ['201 without one', http(201, {}), 'ambiguous'],
    ['201 without a body', http(201, ''), 'ambiguous'],
    ['400 with the sentence', problem(400, NONE_LEFT), 'no-capacity'],
    ['400 without it', problem(400, 'data center XX does not exist'), 'request'],
    ['401', problem(401, 'missing bearer token'), 'account'],
    ['402', problem(402, 'balance too low'), 'account'],
    ['403 of one card', problem(403, 'access denied'), 'no-capacity'],
    ['403 of the firewall', http(403, 'error code: 1010'), 'account'],
    ['404 of a template', problem(404, 'template not found'), 'request'],
    ['413', problem(413, 'body too large'), 'request'],
    ['422', problem(422, 'Request validation failed.', ['$.mounts: additional properties']), 'request'],
    ['429', problem(429, 'rate limit exceeded for the minute window'), 'wait'],
    ['500', problem(500, 'unexpected end of JSON input'), 'ambiguous'],
    ['503 HTML', http(503, '<html></html>'), 'ambiguous'],
  ])('%s', (_name, answer, expected) => {
    expect(verdict(answer, 'rest')).toBe(expected);
  });
});

describe('a create without an answer', () => {
  it('that_was_never_sent_bought_nothing_and_one_that_was_may_have', () => {
    expect(verdict({ kind: 'not-sent', cause: new Error('refused') }, 'graphql')).toBe('wait');
    expect(verdict({ kind: 'withheld', untilMs: 5 }, 'graphql')).toBe('wait');
    expect(verdict({ kind: 'lost', cause: new Error('cut') }, 'graphql')).toBe('ambiguous');
  });

  it('says_why_in_the_words_of_the_provider', () => {
    const refused = classifyCreate(
      problem(422, 'Request validation failed.', ["$.gpu: missing 'id'"]),
      'rest',
    );
    expect(refused).toMatchObject({
      reason: "HTTP 422: Problem; Request validation failed.; $.gpu: missing 'id'",
    });
    expect(classifyCreate(http(403, 'error code: 1010'), 'graphql')).toMatchObject({
      reason: expect.stringMatching(/1010.*User-Agent/),
    });
    expect(classifyCreate(http(502, `<html>${'x'.repeat(9_000)}</html>`), 'rest')).toMatchObject({
      reason: 'HTTP 502: an HTML page',
    });
  });
});
