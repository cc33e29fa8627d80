import { join } from 'node:path';

/** Every file and folder of a state directory, by name. */
export function clusterPaths(stateDir: string) {
  const at = (...parts: string[]) => join(stateDir, ...parts);
  return {
    stateDir,
    secretFile: at('secret.json'),

    /** what the local provider keeps: its records stand for the account of a cloud */
    accountDir: at('account'),
    podDir: (podId: string) => at('account', podId),

    /** the saved catalogue, and what the programs of this machine have asked of RunPod's APIs */
    runpodDir: at('runpod'),
    runpodKeyFile: at('runpod', 'api-key'),
    /** the pretended cloud of a rehearsal */
    rehearsalDir: at('rehearsal'),

    controllerDir: at('controller'),
    journalFile: at('controller', 'journal.ndjson'),
    snapshotFile: at('controller', 'snapshot.json'),
    controllerSocket: at('controller', 'controller.sock'),

    natsDir: at('nats'),
    natsConfFile: at('nats', 'nats.conf'),
    natsCredentialsFile: at('nats', 'nats-credentials.json'),

    nginxDir: at('nginx'),
    nginxConfFile: at('nginx', 'nginx.conf'),
    nginxGenerationDir: (generation: number) => at('nginx', `gen-${generation}`),
    nginxCurrentLink: at('nginx', 'current'),
    nginxTmpDir: at('nginx', 'tmp'),
    nginxPidFile: at('nginx', 'nginx.pid'),
    nginxControlSocket: at('nginx', 'control.sock'),

    supervisorDir: at('supervisor'),
    supervisorConfFile: at('supervisor', 'supervisord.conf'),
    supervisorPidFile: at('supervisor', 'supervisord.pid'),
    supervisorSocket: at('supervisor', 'supervisor.sock'),

    workersDir: at('workers'),
    workerFile: (bootId: string) => at('workers', `${bootId}.json`),

    spoolDir: at('spool'),

    runDir: at('run'),
    clusterFile: at('run', 'cluster.json'),
    operatorTokenFile: at('run', 'operator-token'),
    groupFile: at('run', 'group.json'),

    logsDir: at('logs'),
    logFile: (program: string) => at('logs', `${program}.log`),
  } as const;
}

export type ClusterPaths = ReturnType<typeof clusterPaths>;
