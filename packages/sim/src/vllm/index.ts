export { describePage, type KnownPage } from './known-pages.ts';
export type { RequestRecord, StartRecord } from './records.ts';
export type { Script } from './script.ts';
