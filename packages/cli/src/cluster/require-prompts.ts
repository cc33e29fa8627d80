import { isProfileName, PagefleetError, promptPlaces, promptsAreHere } from '@pagefleet/contract';
import { type ConfigIssue, configInvalid, type LoadedConfig, readPromptFile } from '@pagefleet/runtime';

/**
 * Reads the prompts of pools whose pages are prompted on this machine, so that a missing one is found before a pod is rented.
 * Rejects with `config_invalid` and every pool's fault.
 */
export async function requirePrompts({ config, origins }: Pick<LoadedConfig, 'config' | 'origins'>) {
  const issues: ConfigIssue[] = [];
  for (const [index, pool] of config.pools.entries()) {
    const { prompts } = pool.reading;
    if (prompts === '' || !promptsAreHere(pool) || !isProfileName(pool.engine)) continue;
    const path = `pools[${index}].reading.prompts`;
    const fault = await faultOf(promptPlaces(pool.engine, prompts));
    const from = origins.get(path)?.name;
    if (fault === null) continue;
    const expected = `a folder with the prompt of ${pool.engine}: ${fault}`;
    issues.push({ path, got: JSON.stringify(prompts), expected, ...(from === undefined ? {} : { from }) });
  }
  if (issues.length > 0) throw configInvalid(issues);
}

async function faultOf(places: readonly string[]): Promise<string | null> {
  try {
    await readPromptFile(places);
    return null;
  } catch (error) {
    if (error instanceof PagefleetError) return error.message;
    throw error;
  }
}
