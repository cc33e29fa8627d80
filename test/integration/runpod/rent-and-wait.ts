import { text } from 'node:stream/consumers';
import { createRunpodProvider, type RentRequest } from '@pagefleet/providers';
import { createLogger } from '@pagefleet/runtime';

/** Rents as a process of its own and then waits to be killed. */
const { request, ...options } = JSON.parse(await text(process.stdin)) as {
  request: RentRequest;
  apiKey: string;
  restUrl: string;
  graphqlUrl: string;
  graphqlHourlyBudget: number;
  stateDir: string;
};
const logger = createLogger({ component: 'test', level: 'silent' });
const outcome = await createRunpodProvider({ ...options, logger }).rent(request);
process.stdout.write(`${outcome.kind}\n`);
setInterval(() => undefined, 60_000);
