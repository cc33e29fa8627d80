import { PagefleetError } from '@pagefleet/contract';

/** Schema of journal and snapshot. A newer one is refused: guessing at money is worse than not starting. */
const JOURNAL_VERSION = 1;

interface Line {
  readonly seq: number;
  readonly entry: unknown;
}

interface ReadLines {
  readonly lines: readonly Line[];
  /** where the next line goes: behind the last good one */
  readonly goodBytes: number;
  /** what follows the good part: nothing, the torn end of a cut write, or lines nobody can read */
  readonly rest: 'none' | 'torn' | 'damaged';
}

interface ReadSnapshot {
  readonly seq: number;
  readonly state: unknown;
}

export function encodeHeader(): Buffer {
  return Buffer.from(`${JSON.stringify({ v: JOURNAL_VERSION, kind: 'pagefleet-journal' })}\n`);
}

export function encodeLine(seq: number, entry: unknown): Buffer {
  return Buffer.from(`${JSON.stringify({ seq, entry })}\n`);
}

export function encodeSnapshot(seq: number, state: unknown): Buffer {
  return Buffer.from(`${JSON.stringify({ v: JOURNAL_VERSION, seq, state })}\n`);
}

/**
 * Reads as far as lines are whole and in order. A last line without its newline, or a last line that does not parse, is the
 * write that was cut by a crash; it was never confirmed to anybody.
 */
export function parseLines(bytes: Buffer): ReadLines {
  const lines: Line[] = [];
  let goodBytes = 0;
  let lastSeq = -1;
  let first = true;
  while (goodBytes < bytes.length) {
    const end = bytes.indexOf(0x0a, goodBytes);
    if (end < 0) return { lines, goodBytes, rest: 'torn' };
    const value = parseJson(bytes.subarray(goodBytes, end));
    const bad = { lines, goodBytes, rest: end + 1 >= bytes.length ? 'torn' : 'damaged' } as const;
    if (value === null) return bad;
    if (first) {
      requireKnownVersion('journal', value.v);
      first = false;
    } else {
      const seq = value.seq;
      if (typeof seq !== 'number' || seq <= lastSeq) return bad;
      lastSeq = seq;
      lines.push({ seq, entry: value.entry });
    }
    goodBytes = end + 1;
  }
  return { lines, goodBytes, rest: 'none' };
}

/** null = unreadable: the caller goes on without it and rebuilds from the listing. */
export function parseSnapshot(bytes: Buffer): ReadSnapshot | null {
  const value = parseJson(bytes);
  if (value === null) return null;
  requireKnownVersion('snapshot', value.v);
  return typeof value.seq === 'number' ? { seq: value.seq, state: value.state } : null;
}

function parseJson(bytes: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function requireKnownVersion(what: string, version: unknown): void {
  if (version === JOURNAL_VERSION) return;
  throw new PagefleetError(
    'unsupported',
    `the controller's ${what} has schema version ${JSON.stringify(version)}, this build knows ${JOURNAL_VERSION}; ` +
      'run the newer build, or move the file away to rebuild it from the account’s listing',
    { details: { version, known: JOURNAL_VERSION } },
  );
}
