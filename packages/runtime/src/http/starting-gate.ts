import { PagefleetError } from '@pagefleet/contract';
import type { FastifyInstance } from 'fastify';

/**
 * Lets the app listen before it can work: until `ready()` every known path answers 503 `starting` with `Retry-After`, so
 * that no client takes a restart for the end of a path. Unknown paths stay 404. Call it before adding routes.
 */
export function startingGate(app: FastifyInstance): { ready(): void } {
  let open = false;
  app.addHook('onRequest', async (request) => {
    if (!open && !request.is404) throw new PagefleetError('starting', 'This process is starting.');
  });
  return {
    ready() {
      open = true;
    },
  };
}
