export { type Client, createClient } from './create-client.ts';
export type { CallFailure } from './decide-retry.ts';
