export { describePage, type KnownPage } from './known-pages.ts';
export type { RequestRecord, StartRecord } from './records.ts';
export type { Rule, Script, ScriptedReply } from './script.ts';
