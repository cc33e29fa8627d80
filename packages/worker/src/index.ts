export { BOOT_ID_VARIABLE } from './member-env.ts';
export type { FromWorker } from './worker-messages.ts';
