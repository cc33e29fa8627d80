import { GraphQLError } from 'graphql';

const CAPACITY =
  'There are no longer any instances available with the requested specifications. Please refresh and try again.';
const CATCH_ALL = 'Something went wrong. Please try again later or contact support.';

/** A failure as RunPod words it: HTTP 200, the code in `extensions`. */
export function graphqlFault(
  message: string,
  code = 'RUNPOD',
  more: Record<string, unknown> = {},
): GraphQLError {
  return new GraphQLError(message, { extensions: { code, ...more } });
}

export const noCapacity = (userId: string): GraphQLError =>
  graphqlFault(CAPACITY, 'SUPPLY_CONSTRAINT', { userId });
export const catchAll = (): GraphQLError => graphqlFault(CATCH_ALL, 'INTERNAL_SERVER_ERROR');
export const unauthorized = (): GraphQLError => graphqlFault('Unauthorized');
