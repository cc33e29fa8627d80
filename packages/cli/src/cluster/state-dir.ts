import { chmodSync, statSync } from 'node:fs';
import { PagefleetError } from '@pagefleet/contract';
import { type ClusterPaths, clusterPaths, makeFolder, STRANGE_IN_A_PATH } from '@pagefleet/runtime';

/** Makes the state directory and its folders, closed to everyone else (0700), and returns the names in it. */
export function makeStateDir(stateDir: string): ClusterPaths {
  const paths = clusterPaths(stateDir);
  refuseUnusablePath(paths);
  const folders = [
    stateDir,
    paths.accountDir,
    paths.controllerDir,
    paths.natsDir,
    paths.nginxDir,
    paths.nginxTmpDir,
    paths.supervisorDir,
    paths.workersDir,
    paths.spoolDir,
    paths.runDir,
    paths.logsDir,
  ];
  try {
    for (const folder of folders) makeFolder(folder, 0o700);
    if ((statSync(stateDir).mode & 0o077) !== 0) chmodSync(stateDir, 0o700);
  } catch (cause) {
    throw new PagefleetError(
      'config_invalid',
      `The state directory ${stateDir} cannot be made: ${(cause as Error).message}. Set state_dir or --state.`,
      { cause },
    );
  }
  return paths;
}

function refuseUnusablePath(paths: ClusterPaths): void {
  const strange = STRANGE_IN_A_PATH.exec(paths.stateDir);
  if (strange) {
    throw new PagefleetError(
      'config_invalid',
      `The state directory ${paths.stateDir} holds the character ${JSON.stringify(strange[0])}, which nginx or supervisord cannot take in a path; set state_dir or --state.`,
    );
  }
}
