import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PagefleetError } from '@pagefleet/contract';
import { createLogger, makeFolder, onShutdown, writeFileAtomic } from '@pagefleet/runtime';
import { type FakeRunpod, type FakeRunpodOptions, startFakeRunpod } from './start-fake-runpod.ts';

/** What the file named on the command line holds, as JSON. */
interface FakeRunpodFile extends Pick<FakeRunpodOptions, 'port' | 'apiKeys' | 'startMs' | 'speed' | 'knobs'> {
  /** table, clock, knobs and the pods' folders; a later start goes on from there */
  readonly stateDir: string;
  /** the port is written here; a later start takes the same one again if it is free. `<stateDir>/port` if left out */
  readonly portFile?: string;
  readonly logLevel?: string;
}

const STOP_TIMEOUT_MS = 10_000;

/** The fake as a process of its own. SIGTERM ends it and leaves its pods running, as the end of a cloud's API would. */
export async function runFakeRunpod(optionsPath: string | undefined): Promise<void> {
  if (!optionsPath) throw new PagefleetError('config_invalid', 'The path of an options file is missing.');
  const options = JSON.parse(await readFile(optionsPath, 'utf8')) as FakeRunpodFile;
  const { portFile = join(options.stateDir, 'port'), logLevel = 'info', ...rest } = options;
  const logger = createLogger({ component: 'fake-runpod', level: logLevel });
  makeFolder(dirname(portFile));
  const start = (port: number): Promise<FakeRunpod> => startFakeRunpod({ ...rest, port, logger });
  const before = rest.port ?? Number(await readFile(portFile, 'utf8').catch(() => '0'));
  const starting = start(before).catch((error: unknown) => {
    // A port that was asked for is not replaced by another; one that was only remembered is.
    if (rest.port !== undefined || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return start(0);
  });
  // Before it serves: who sees it answer may end it at once.
  onShutdown({
    logger,
    timeoutMs: STOP_TIMEOUT_MS,
    steps: [{ name: 'fake', run: async () => (await starting).close({ endProcesses: false }) }],
  });
  const fake = await starting;
  await writeFileAtomic(portFile, String(fake.port));
  logger.info({ port: fake.port }, 'fake_runpod_serving');
}
