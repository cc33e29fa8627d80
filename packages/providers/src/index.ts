export { createLocalProvider } from './local/create-local-provider.ts';
export type { ListedPod, Provider, RentOutcome, RentRequest } from './port.ts';
