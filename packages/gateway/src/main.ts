import { sizePools } from './size-pools.ts';

sizePools(process.env);
// Loaded afterwards: what is imported here runs first, and must find the pools sized.
const { runGateway } = await import('./run-gateway.ts');
await runGateway(process.env);
