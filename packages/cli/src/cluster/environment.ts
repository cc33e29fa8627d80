import { resolve } from 'node:path';
import { type LoadedConfig, loadConfig } from '@pagefleet/runtime';

/** Variables that steer the command line itself; all other `PAGEFLEET_*` are settings, and an unknown one is refused. */
const OWN_VARIABLES = ['PAGEFLEET_URL', 'PAGEFLEET_API_KEY', 'PAGEFLEET_START_ONCE', 'PAGEFLEET_DEBUG'];

export interface ConfigOptions {
  readonly config?: string;
  readonly state?: string;
}

/** The configuration as the flags, the file and the environment give it. */
export function loadCliConfig({ config, state }: ConfigOptions): LoadedConfig {
  const env = { ...process.env };
  for (const name of OWN_VARIABLES) delete env[name];
  if (state !== undefined) env.PAGEFLEET_STATE_DIR = resolve(state);
  return loadConfig({ env, cwd: process.cwd(), ...(config === undefined ? {} : { file: config }) });
}

/** Where the state is, even when the configuration is broken: `--state` needs none of it. */
export function findStateDir(options: ConfigOptions): string {
  return options.state === undefined ? loadCliConfig(options).config.stateDir : resolve(options.state);
}
