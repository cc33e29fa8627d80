export interface Route<Handler> {
  readonly method: string;
  /** `/pods/{id}/action`; it is also the name by which calls are counted and faults are placed */
  readonly pattern: string;
  readonly handler: Handler;
}

export type Found<Handler> =
  | { readonly kind: 'found'; readonly route: Route<Handler>; readonly params: Record<string, string> }
  | { readonly kind: 'wrong-method'; readonly allowed: readonly string[] }
  | { readonly kind: 'nowhere' };

/** Fixed words come before parameters, whatever the order of the table. */
export function findRoute<Handler>(
  routes: readonly Route<Handler>[],
  method: string,
  path: string,
): Found<Handler> {
  const matches = routes.flatMap((route) => {
    const params = matchPattern(route.pattern, path);
    return params ? [{ kind: 'found', route, params } as const] : [];
  });
  const fewest = Math.min(...matches.map(({ params }) => Object.keys(params).length));
  const best = matches.filter(({ params }) => Object.keys(params).length === fewest);
  const found = best.find(({ route }) => route.method === method);
  if (found) return found;
  if (best.length === 0) return { kind: 'nowhere' };
  return { kind: 'wrong-method', allowed: best.map(({ route }) => route.method) };
}

function matchPattern(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? '';
    if (part.startsWith('{') && value !== '') params[part.slice(1, -1)] = decodeURIComponent(value);
    else if (part !== value) return null;
  }
  return params;
}
