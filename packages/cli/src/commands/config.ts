import { PagefleetError } from '@pagefleet/contract';
import { configJsonSchema, renderConfigReference } from '@pagefleet/runtime';
import { type ConfigOptions, loadCliConfig } from '../cluster/environment.ts';
import { requirePrompts } from '../cluster/require-prompts.ts';
import { formatTable } from '../terminal/table.ts';

interface Issue {
  readonly path: string;
  readonly got: string;
  readonly expected: string;
  readonly from?: string;
}

/** Every problem at once: where, what was found, what is expected, where it was written. */
export async function checkConfig(options: ConfigOptions): Promise<number> {
  try {
    const loaded = loadCliConfig(options);
    await requirePrompts(loaded);
    const { file, origins } = loaded;
    const set = [...origins.values()].filter(({ from }) => from !== 'default').length;
    console.log(`${file ?? 'no file'}: fine; ${set} settings are set, the others have their defaults`);
    return 0;
  } catch (error) {
    const issues =
      error instanceof PagefleetError ? (error.details.issues as Issue[] | undefined) : undefined;
    if (!issues) throw error;
    for (const { path, got, expected, from } of issues) {
      console.error(`${path}: got ${got}, expected ${expected}${from ? ` (${from})` : ''}`);
    }
    console.error(`${issues.length} ${issues.length === 1 ? 'problem' : 'problems'}`);
    return 1;
  }
}

/** Every setting in force and where its value came from. */
export function showConfig(options: ConfigOptions): number {
  const { written, origins } = loadCliConfig(options);
  const rows = [...origins].map(([path, { from, name }]) => [path, valueAt(written, path), name ?? from]);
  console.log(formatTable(['SETTING', 'VALUE', 'FROM'], rows));
  return 0;
}

export function printConfigReference(): number {
  process.stdout.write(renderConfigReference());
  return 0;
}

export function printConfigSchema(): number {
  console.log(JSON.stringify(configJsonSchema(), null, 2));
  return 0;
}

/** `pools[0].width` in the written configuration, as one word of JSON. */
function valueAt(tree: unknown, path: string): string {
  let at = tree;
  for (const part of path.split(/[.[\]]+/).filter((name) => name !== '')) {
    at = (at as Record<string, unknown> | undefined)?.[part];
  }
  return typeof at === 'string' ? at : JSON.stringify(at);
}
