import {
  type DocumentNode,
  execute,
  GraphQLError,
  getOperationAST,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { type Answer, html, json, readBody } from '../http/answer.ts';
import type { Call } from '../http/call.ts';
import type { Service } from '../service.ts';
import { createMutations } from './mutations.ts';
import { createQueries } from './queries.ts';
import { graphqlSchema } from './schema.ts';

/** What the resolvers of one request know. */
export interface GraphqlContext {
  readonly service: Service;
  readonly call: Call;
  /** sent in place of the result: the work was done and its answer is lost */
  instead: Answer | null;
}

const MAX_BODY_BYTES = 10_000_000;
const RULES = [...specifiedRules, NoSchemaIntrospectionCustomRule];

export async function serveGraphql(service: Service, call: Call): Promise<Answer> {
  if (call.method !== 'POST') return html(405, { allow: 'POST' });
  const { caller } = call;
  if (caller.kind === 'stranger') {
    return json(401, { errors: [{ message: 'Unauthorized', extensions: { code: 'UNAUTHENTICATED' } }] });
  }
  const body = await readBody(call.request, MAX_BODY_BYTES);
  if (caller.kind !== 'nobody') {
    const refused = refuseByQuota(service, caller.key);
    if (refused) return refused;
  }
  const question = parseQuestion(body);
  if (question instanceof GraphQLError) return refusal([question], 'GRAPHQL_PARSE_FAILED');
  const schema = graphqlSchema(service.account.knobs);
  const errors = validate(schema, question.document, RULES);
  if (errors.length > 0) return refusal(errors, 'GRAPHQL_VALIDATION_FAILED');
  return service.meet('graphql', rootFields(question.document), () => answer(service, call, question));
}

interface Question {
  readonly document: DocumentNode;
  readonly variables: Record<string, unknown>;
}

async function answer(service: Service, call: Call, { document, variables }: Question): Promise<Answer> {
  const context: GraphqlContext = { service, call, instead: null };
  const result = await execute({
    schema: graphqlSchema(service.account.knobs),
    document,
    variableValues: variables,
    contextValue: context,
    rootValue: { ...createQueries(context), ...createMutations(context) },
  });
  if (context.instead !== null) return context.instead;
  // Variables that do not fit the schema are found before anything is carried out.
  if (result.data === undefined) return refusal(result.errors ?? [], 'GRAPHQL_VALIDATION_FAILED');
  return json(200, {
    ...(result.errors
      ? { errors: result.errors.map(({ message, path, extensions }) => ({ message, path, extensions })) }
      : {}),
    data: result.data,
  });
}

function refuseByQuota(service: Service, key: string): Answer | null {
  const { allowed, windows, retryAfterSeconds } = service.takeGraphqlQuota(key);
  if (allowed) return null;
  const header = service.account.knobs.graphqlRetryAfterHeaderSeconds ?? retryAfterSeconds;
  const headers: Record<string, string> = { 'retry-after': String(header) };
  for (const { name, limit, remaining } of windows) {
    headers[`x-ratelimit-limit-${name}`] = String(limit);
    headers[`x-ratelimit-remaining-${name}`] = String(remaining);
  }
  return json(429, { error: 'Too many requests', retryAfter: retryAfterSeconds }, headers);
}

function parseQuestion(body: string | null): Question | GraphQLError {
  try {
    const { query, variables } = JSON.parse(body ?? '') as Record<string, unknown>;
    if (typeof query !== 'string') return new GraphQLError('Must provide query string.');
    return { document: parse(query), variables: (variables ?? {}) as Record<string, unknown> };
  } catch (error) {
    return error instanceof GraphQLError ? error : new GraphQLError('POST body is not valid JSON.');
  }
}

function refusal(errors: readonly GraphQLError[], code: string): Answer {
  return json(400, {
    errors: errors.map(({ message, locations }) => ({ message, locations, extensions: { code } })),
  });
}

function rootFields(document: DocumentNode): string[] {
  const selections = getOperationAST(document)?.selectionSet.selections ?? [];
  return selections.flatMap((one) => (one.kind === 'Field' ? [one.name.value] : []));
}
