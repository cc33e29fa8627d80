import type { RateWindow } from './rate-budget.ts';

export type HeaderOf = (name: string) => string | undefined;

const WINDOW_SECONDS = { minute: 60, hour: 3_600, day: 86_400 } as const;
const NAMES = Object.keys(WINDOW_SECONDS) as RateWindow['window'][];
const SECOND_MS = 1_000;

/**
 * The windows that an answer tells of: IETF's `RateLimit` with `RateLimit-Policy` (REST v2), else the
 * `x-ratelimit-{limit,remaining}-{window}` of GraphQL. Empty when it tells of none.
 */
export function parseRateWindows(header: HeaderOf): RateWindow[] {
  const limits = new Map(
    parseFieldList(header('ratelimit-policy') ?? '').map(({ name, values }) => [name, values.get('q')]),
  );
  const told = parseFieldList(header('ratelimit') ?? '').flatMap(({ name, values }) => {
    const remaining = values.get('r');
    const window = NAMES.find((one) => one === name);
    if (window === undefined || remaining === undefined) return [];
    const reset = values.get('t');
    return [
      {
        window,
        limit: limits.get(name) ?? null,
        remaining,
        resetMs: reset === undefined ? null : reset * SECOND_MS,
      },
    ];
  });
  return told.length > 0 ? told : NAMES.flatMap((window) => oldStyleWindow(window, header));
}

function oldStyleWindow(window: RateWindow['window'], header: HeaderOf): RateWindow[] {
  const remaining = parseCount(header(`x-ratelimit-remaining-${window}`));
  if (remaining === null) return [];
  return [{ window, limit: parseCount(header(`x-ratelimit-limit-${window}`)), remaining, resetMs: null }];
}

/**
 * Every wait that a refusal (429) tells of, in milliseconds: `Retry-After`, `retryAfter` of the body (seconds both) and
 * the time until each empty window is full again.
 */
export function toldWaitsMs({ header, body }: { header: HeaderOf; body: unknown }): number[] {
  const inBody = (body as { retryAfter?: unknown } | null | undefined)?.retryAfter;
  const waits = [
    parseSecondsMs(header('retry-after')),
    parseSecondsMs(typeof inBody === 'number' ? String(inBody) : inBody),
    ...parseRateWindows(header).map(({ remaining, resetMs }) => (remaining <= 0 ? resetMs : null)),
  ];
  return waits.filter((wait) => wait !== null);
}

/** How long a refusal that tells no wait is obeyed: until the longest of its empty windows can be full again. */
export function untoldWaitMs(windows: readonly RateWindow[], nowMs: number): number {
  const empty = windows.filter(({ remaining }) => remaining <= 0).map(({ window }) => window);
  // The day of GraphQL's quota begins at 00:00 UTC.
  if (empty.includes('day'))
    return WINDOW_SECONDS.day * SECOND_MS - (nowMs % (WINDOW_SECONDS.day * SECOND_MS));
  return (empty.includes('hour') ? WINDOW_SECONDS.hour : WINDOW_SECONDS.minute) * SECOND_MS;
}

/** Both APIs tell whole seconds; a date, which HTTP would allow, is no wait. */
function parseSecondsMs(value: unknown): number | null {
  const text = typeof value === 'string' ? value.trim() : '';
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) * SECOND_MS : null;
}

function parseCount(text: string | undefined): number | null {
  return text !== undefined && /^\d+$/.test(text.trim()) ? Number(text) : null;
}

/** `"minute";r=171;t=44, "hour";r=7012`: names with their numbers. Members and parameters that are none are left out. */
function parseFieldList(text: string): { name: string; values: Map<string, number> }[] {
  return splitOutsideQuotes(text, ',').flatMap((member) => {
    const [head = '', ...parameters] = splitOutsideQuotes(member, ';').map((part) => part.trim());
    const name = /^"([^"]*)"$/.exec(head)?.[1] ?? head;
    const values = parameters.flatMap((parameter) => {
      const [, key, value] = /^([a-z*][a-z0-9_.*-]*)\s*=\s*(\d+)$/i.exec(parameter) ?? [];
      return key === undefined || value === undefined ? [] : [[key.toLowerCase(), Number(value)] as const];
    });
    return name === '' ? [] : [{ name, values: new Map(values) }];
  });
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let part = '';
  let isQuoted = false;
  for (const letter of text) {
    if (letter === '"') isQuoted = !isQuoted;
    if (letter === separator && !isQuoted) {
      parts.push(part);
      part = '';
    } else {
      part += letter;
    }
  }
  return [...parts, part].filter((one) => one.trim() !== '');
}
