import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Account, Collections } from './account.ts';
import type { ClockAnchor } from './clock.ts';
import { changeKnobs, type ServiceKnobs } from './table/knobs.ts';
import type { PodRecord } from './table/pod-record.ts';

type Line =
  | { readonly kind: 'pod'; readonly value: PodRecord }
  | { readonly kind: keyof Collections; readonly id: string; readonly value: unknown }
  | { readonly kind: 'clock'; readonly value: ClockAnchor }
  | { readonly kind: 'knobs'; readonly value: ServiceKnobs }
  | { readonly kind: 'cells'; readonly value: Account['catalogue']['cells'] };

export interface Journal {
  pod(pod: PodRecord): void;
  item(kind: keyof Collections, id: string, value: unknown): void;
  clock(anchor: ClockAnchor): void;
  knobs(knobs: ServiceKnobs): void;
  cells(cells: Account['catalogue']['cells']): void;
}

const NO_JOURNAL: Journal = { pod() {}, item() {}, clock() {}, knobs() {}, cells() {} };
const FILE = 'fake-runpod.jsonl';

/**
 * What outlives the fake: a line for every change, written before the change is answered, so that what was rented is
 * known after any end of the process. Without a folder nothing is written. Requests in progress, quotas and faults that
 * wait for a call are forgotten.
 */
export function openJournal(
  stateDir: string | null,
  account: Account,
): { journal: Journal; anchor: ClockAnchor | null } {
  if (stateDir === null) return { journal: NO_JOURNAL, anchor: null };
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const path = join(stateDir, FILE);
  const anchor = readInto(path, account);
  compact(path, account, anchor);
  const write = (line: Line): void => appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  return {
    anchor,
    journal: {
      pod: (value) => write({ kind: 'pod', value }),
      item: (kind, id, value) => write({ kind, id, value }),
      clock: (value) => write({ kind: 'clock', value }),
      knobs: (value) => write({ kind: 'knobs', value }),
      cells: (value) => write({ kind: 'cells', value }),
    },
  };
}

const COLLECTIONS: readonly (keyof Collections)[] = [
  'networkVolumes',
  'globalVolumes',
  'registries',
  'templates',
  'endpoints',
];

function readInto(path: string, account: Account): ClockAnchor | null {
  if (!existsSync(path)) return null;
  let anchor: ClockAnchor | null = null;
  for (const text of readFileSync(path, 'utf8').split('\n')) {
    const line = parseLine(text);
    if (line === null) continue;
    if (line.kind === 'pod') account.pods.set(line.value.id, line.value);
    else if (line.kind === 'clock') anchor = line.value;
    else if (line.kind === 'knobs') readKnobs(account.knobs, line.value);
    else if (line.kind === 'cells') account.catalogue = { ...account.catalogue, cells: line.value };
    else putItem(account[line.kind], line.id, line.value);
  }
  return anchor;
}

/** A knob that only another version knows is forgotten. */
function readKnobs(knobs: ServiceKnobs, written: ServiceKnobs): void {
  for (const [name, value] of Object.entries(written)) {
    try {
      changeKnobs(knobs, { [name]: value });
    } catch {
      // It keeps its default.
    }
  }
}

function putItem(items: Map<string, unknown>, id: string, value: unknown): void {
  if (value === null) items.delete(id);
  else items.set(id, value);
}

/** The last line may have been cut short by the end of the process; it was then never answered. */
function parseLine(text: string): Line | null {
  try {
    return text === '' ? null : (JSON.parse(text) as Line);
  } catch {
    return null;
  }
}

function compact(path: string, account: Account, anchor: ClockAnchor | null): void {
  const lines: Line[] = [
    ...(anchor === null ? [] : [{ kind: 'clock', value: anchor } as const]),
    { kind: 'knobs', value: account.knobs },
    { kind: 'cells', value: account.catalogue.cells },
    ...COLLECTIONS.flatMap((kind) => [...account[kind]].map(([id, value]) => ({ kind, id, value }))),
    ...[...account.pods.values()].map((value) => ({ kind: 'pod', value }) as const),
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
