export * from './bus/records.ts';
export * from './bus/subjects.ts';
export * from './bytes.ts';
export * from './duration.ts';
export * from './errors.ts';
export * from './pod/gateway-api.ts';
