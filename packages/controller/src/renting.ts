export { Fleet } from './fleet.ts';
export { WorkerBook } from './observe/worker-book.ts';
export { Renter } from './renter.ts';
