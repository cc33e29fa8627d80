/**
 * Files in a local pod's folder `account/<podId>/`. Each has one writer, and those that others than the gateway
 * read are written once, so nothing is ever changed under a reader:
 *
 *   record.json   renter, before it starts anything: what was rented
 *   spawned.json  renter: the identity of the process it started
 *   process.json  gateway, first thing: its own identity
 *   port          gateway, before it serves
 *   exit          whoever knows first that the pod ends or has ended (`PodExit`); see below
 *   log, log.1    gateway
 *   engine.json   gateway, as long as its model server runs: the identity of that process, for the next gateway of this pod
 *   engine.log    gateway: what its model server printed; bounded as `log`
 *
 * A pod of which no identity is known is called gone by writing `exit` and then looking for `process.json` once more; a
 * gateway writes `process.json` and then looks for `exit`, and ends if it is there. So one of the two always sees the other.
 */
export const POD_FILES = {
  record: 'record.json',
  spawned: 'spawned.json',
  process: 'process.json',
  port: 'port',
  exit: 'exit',
  log: 'log',
  engine: 'engine.json',
  engineLog: 'engine.log',
} as const;

/** Content of `exit`, as JSON. That the file is there is what counts; its content is for people. */
export interface PodExit {
  readonly v: 1;
  readonly reason: string;
  readonly atMs: number;
}
