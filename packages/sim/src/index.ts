export { CLAUSES, type ClauseName } from './hand-over/clauses.ts';
export * from './hand-over/run-hand-over.ts';
export type { BuildController, ControllerView, Outside, TestedController } from './world/outside.ts';
export { runWorld, type WorldRun, type WorldViolation } from './world/run-world.ts';
export { POOL_TIMES } from './world/settings.ts';
export { describeViolation, shrinkWorld } from './world/shrink-world.ts';
