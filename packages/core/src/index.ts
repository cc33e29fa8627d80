export * from './traffic/admit.ts';
export * from './traffic/classify-failure.ts';
export * from './traffic/decide-retry.ts';
export * from './traffic/fair-queue.ts';
export * from './traffic/pick-pod.ts';
export * from './traffic/pool-suspension.ts';
export * from './traffic/slots.ts';
export * from './traffic/suspect-book.ts';
