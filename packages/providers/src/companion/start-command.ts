import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MODEL_PATHS, PagefleetError, POD_SETTINGS_VERSION, PROFILE_NAMES } from '@pagefleet/contract';
import { toldSettings } from '@pagefleet/runtime';

/** What a container runs instead of what its image says. Nothing secret is in it: settings come by environment. */
export interface StartCommand {
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
}

/** Each needs only those before it. */
const PARTS = ['wire', 'removal', 'printing', 'model_server', 'exchange', 'pages', 'companion'] as const;
const TO_FILL = /^SETTINGS, SETTINGS_VERSION, MODEL_PATHS = .*$/m;

// Read once, as the module is, since whoever rents must not wait for a disk.
const program = joinParts(await Promise.all(PARTS.map(readPart)));
let code: string | null = null;

/** How a stock image of the model server becomes a pod of ours (decision 0012). */
export function companionCommand(): StartCommand {
  code ??= fillSettings(program);
  return { entrypoint: ['python3'], cmd: ['-c', code] };
}

/** One program without what only its readers need: a create has room for 102,400 bytes in all (contract 4.6). */
export function joinParts(sources: readonly string[]): string {
  const ours = new RegExp(`^from (${PARTS.join('|')}) import .*\\n`, 'gm');
  return sources
    .map((source) =>
      source
        .replace(ours, '')
        .replace(/^ *"""[\s\S]*?"""\n/gm, '')
        .replace(/^ *#.*\n/gm, '')
        .replace(/^\s*\n/gm, '')
        .replace(/^( {4})+/gm, (indent) => ' '.repeat(indent.length / 4)),
    )
    .join('');
}

function readPart(name: (typeof PARTS)[number]): Promise<string> {
  return readFile(join(import.meta.dirname, `${name}.py`), 'utf8');
}

/** The companion reads its settings by the same schema that wrote them. */
function fillSettings(joined: string): string {
  if (!TO_FILL.test(joined)) throw new PagefleetError('internal', 'The companion has no room for settings.');
  const table = Object.entries(toldSettings(PROFILE_NAMES)).map(
    ([variable, { field, kind, absent, elsewhere }]) => [variable, [field, kind, absent, elsewhere]],
  );
  const filled = [Object.fromEntries(table), POD_SETTINGS_VERSION, MODEL_PATHS];
  // A text of JSON is also a text of Python, and `json` is imported above.
  const text = JSON.stringify(JSON.stringify(filled));
  return joined.replace(TO_FILL, () => `SETTINGS, SETTINGS_VERSION, MODEL_PATHS = json.loads(${text})`);
}
