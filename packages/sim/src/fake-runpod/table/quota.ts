import type { QuotaSizes } from './knobs.ts';

export type WindowName = keyof QuotaSizes;

export const WINDOW_MS: { readonly [W in WindowName]: number } = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};
const WINDOWS: readonly WindowName[] = ['minute', 'hour', 'day'];

/** Calls in the present windows; they begin with the clock's minute, hour and UTC day. */
export interface QuotaUse {
  readonly used: { [W in WindowName]: { startMs: number; calls: number } };
  /** every call is refused until then, whatever was used */
  bannedUntilMs: number;
}

interface WindowState {
  readonly name: WindowName;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

export interface QuotaVerdict {
  readonly allowed: boolean;
  readonly windows: readonly WindowState[];
  /** of the empty window that takes longest, or of the ban */
  readonly retryAfterSeconds: number;
  readonly emptyWindow: WindowName | null;
}

export function newQuotaUse(): QuotaUse {
  const fresh = () => ({ startMs: 0, calls: 0 });
  return { used: { minute: fresh(), hour: fresh(), day: fresh() }, bannedUntilMs: 0 };
}

/** Every call costs one in each window, also one that is refused. */
export function takeQuota(use: QuotaUse, sizes: QuotaSizes, nowMs: number): QuotaVerdict {
  const windows = WINDOWS.map((name): WindowState & { over: boolean } => {
    const startMs = Math.floor(nowMs / WINDOW_MS[name]) * WINDOW_MS[name];
    const window = use.used[name];
    if (window.startMs !== startMs) Object.assign(window, { startMs, calls: 0 });
    window.calls += 1;
    return {
      name,
      limit: sizes[name],
      remaining: Math.max(0, sizes[name] - window.calls),
      resetSeconds: Math.max(1, Math.ceil((startMs + WINDOW_MS[name] - nowMs) / 1000)),
      over: window.calls > sizes[name],
    };
  });
  const empty = windows.findLast(({ over }) => over) ?? null;
  const banSeconds = Math.ceil((use.bannedUntilMs - nowMs) / 1000);
  return {
    allowed: empty === null && banSeconds <= 0,
    windows: windows.map(({ over: _, ...window }) => (banSeconds > 0 ? withBan(window, banSeconds) : window)),
    retryAfterSeconds: Math.max(banSeconds, empty?.resetSeconds ?? 0),
    emptyWindow: banSeconds > 0 ? 'day' : (empty?.name ?? null),
  };
}

/** A ban is shown as an empty day. */
function withBan(window: WindowState, seconds: number): WindowState {
  return window.name === 'day' ? { ...window, remaining: 0, resetSeconds: seconds } : window;
}
