export { createDataplane, type Dataplane, type DataplaneOptions } from './create-dataplane.ts';
export type { Sizes } from './sizes.ts';
