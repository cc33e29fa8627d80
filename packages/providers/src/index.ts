export { companionCommand, type StartCommand } from './companion/start-command.ts';
export { createLocalProvider } from './local/create-local-provider.ts';
export { openProvider, readApiKey } from './open-provider.ts';
export type { ApiUsage, ListedPod, Provider, RentedMachine, RentOutcome, RentRequest } from './port.ts';
export { createRunpodProvider } from './runpod/create-runpod-provider.ts';
