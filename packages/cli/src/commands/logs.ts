import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { PagefleetError } from '@pagefleet/contract';
import { clusterPaths } from '@pagefleet/runtime';
import { type ConfigOptions, findStateDir } from '../cluster/environment.ts';
import { requireCluster } from './require-cluster.ts';

const TAIL_BYTES = 64_000;

/** The end of one program's log, or the list of logs. */
export async function logs(program: string | undefined, options: ConfigOptions): Promise<number> {
  const paths = clusterPaths(findStateDir(options));
  const known = existsSync(paths.logsDir)
    ? readdirSync(paths.logsDir)
        .filter((name) => name.endsWith('.log'))
        .map((name) => basename(name, '.log'))
    : [];
  // Logs of a cluster whose other files are gone are still worth reading; without any, it is said what is missing.
  if (known.length === 0) requireCluster(options);
  if (program === undefined) {
    for (const name of known) console.log(`${name.padEnd(14)} ${paths.logFile(name)}`);
    return 0;
  }
  if (!known.includes(program)) {
    throw new PagefleetError(
      'not_found',
      `There is no log of "${program}"; there are: ${known.join(', ') || 'none'}.`,
    );
  }
  const file = paths.logFile(program);
  const start = Math.max(0, statSync(file).size - TAIL_BYTES);
  await pipeline(createReadStream(file, { start }), process.stdout, { end: false });
  return 0;
}
