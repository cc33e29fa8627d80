export { CLAUSES, type ClauseName } from './hand-over/clauses.ts';
export * from './hand-over/run-hand-over.ts';
