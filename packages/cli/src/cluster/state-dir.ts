import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { PagefleetError } from '@pagefleet/contract';
import { type ClusterPaths, clusterPaths } from '@pagefleet/runtime';

/** `sun_path` of a unix socket holds 108 bytes on Linux and 104 elsewhere, the closing zero included. */
const MAX_SOCKET_PATH_BYTES = 103;

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
    for (const folder of folders) mkdirSync(folder, { recursive: true, mode: 0o700 });
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
  const longest = [paths.controllerSocket, paths.supervisorSocket, paths.nginxControlSocket].reduce((a, b) =>
    a.length > b.length ? a : b,
  );
  // supervisord binds under a temporary name first: the socket's name, a dot and its pid.
  const bytes = Buffer.byteLength(longest) + '.4194304'.length;
  if (bytes > MAX_SOCKET_PATH_BYTES) {
    throw new PagefleetError(
      'config_invalid',
      `The state directory ${paths.stateDir} is ${bytes - MAX_SOCKET_PATH_BYTES} bytes too long for the sockets in it; set state_dir or --state to a shorter path.`,
    );
  }
  const strange = /["'\\$%;#{}\s]/.exec(paths.stateDir);
  if (strange) {
    throw new PagefleetError(
      'config_invalid',
      `The state directory ${paths.stateDir} holds the character ${JSON.stringify(strange[0])}, which nginx or supervisord cannot take in a path; set state_dir or --state.`,
    );
  }
}
