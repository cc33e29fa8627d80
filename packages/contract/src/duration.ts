/** Longest duration any setting or flag accepts: what a signed 64-bit count of nanoseconds holds. */
export const MAX_DURATION_DAYS = 106_751;

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export type DurationResult =
  | { readonly ok: true; readonly ms: number }
  | { readonly ok: false; readonly reason: string };

/**
 * The one parser for durations: `250ms`, `90s`, `10m`, `2h`, `7d`, `1h30m`, `0`. Returns whole milliseconds.
 * A bare number other than 0 is refused, because its unit would be a guess.
 */
export function parseDuration(text: string): DurationResult {
  const input = text.trim();
  if (input === '0') return { ok: true, ms: 0 };
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(input)) {
    return { ok: false, reason: `"${text}" is not a duration; expected a form like 90s, 10m, 2h or 7d` };
  }
  let ms = 0;
  for (const part of input.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    ms += Number(part[1]) * UNIT_MS[part[2] as keyof typeof UNIT_MS];
  }
  if (ms > MAX_DURATION_DAYS * UNIT_MS.d) {
    return { ok: false, reason: `"${text}" is out of range; the maximum is ${MAX_DURATION_DAYS}d` };
  }
  return { ok: true, ms: Math.round(ms) };
}

/** The shortest exact form: 90000 → `90s`, 600000 → `10m`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0';
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms % UNIT_MS[unit] === 0) return `${ms / UNIT_MS[unit]}${unit}`;
  }
  return `${ms}ms`;
}
