import type { Config } from './config/schema.ts';

/**
 * `<state>/run/cluster.json` (0600): what `pagefleet up` decided and every program of the cluster reads at its start.
 * It holds no secret; those are files of their own beside it, named here.
 */
export interface ClusterFile {
  readonly v: 1;
  readonly clusterId: string;
  readonly stateDir: string;
  readonly config: Config;
  readonly ports: {
    readonly nats: number;
    readonly controller: number;
    /** the controller's forwarding child: nginx's backup, or the ordinary server for `workers: 0` */
    readonly backup: number;
    /** one per worker number, fixed for the life of the cluster */
    readonly workers: readonly number[];
  };
  /** ready to pass to `connectBus`; user and password are in `natsCredentialsFile` */
  readonly natsUrl: string;
  readonly natsCredentialsFile: string;
  readonly secretFile: string;
  readonly operatorTokenFile: string;
  /** the real Node binary that runs everything supervised */
  readonly nodeBinary: string;
}
