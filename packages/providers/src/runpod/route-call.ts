import type { ApiName, Operation } from './api-call.ts';

export interface ApiState {
  readonly isBanned: boolean;
  readonly isOverBudget: boolean;
}

/**
 * Which API does what, the better one first. Spot has no second: REST v2 would rent on-demand. A wrong second
 * would be worse than none.
 */
const ROUTES: Readonly<Record<Operation, readonly ApiName[]>> = {
  list: ['rest', 'graphql'],
  terminate: ['rest', 'graphql'],
  billing: ['rest'],
  catalogue: ['graphql', 'rest'],
  create: ['graphql', 'rest'],
  'create-spot': ['graphql'],
};

/**
 * The APIs that may be asked, in the order in which they are tried. A ban takes one out; a budget that is used up only
 * moves it to the end (R-061, L13). Empty: nothing may be asked now.
 */
export function routesOf(operation: Operation, states: Readonly<Record<ApiName, ApiState>>): ApiName[] {
  const open = ROUTES[operation].filter((api) => !states[api].isBanned);
  return [
    ...open.filter((api) => !states[api].isOverBudget),
    ...open.filter((api) => states[api].isOverBudget),
  ];
}
