import { setTimeout as wait } from 'node:timers/promises';

/** Where the fake's time stood at a real instant; from there it runs at `speed`. */
export interface ClockAnchor {
  readonly realMs: number;
  readonly fakeMs: number;
  /** 0 = it stands still and is only moved by `advance` */
  readonly speed: number;
}

export interface FakeClock {
  nowMs(): number;
  anchor(): ClockAnchor;
  advance(ms: number): void;
  setSpeed(speed: number): void;
  /** Resolves when that much of the fake's time has passed, by itself or by `advance`, or at once when it was aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Called after every jump and change of speed. */
  onJump(listener: () => void): void;
  /** Real milliseconds until the fake's time reaches the instant; infinite while it stands still. */
  realMsUntil(fakeMs: number): number;
  /** Whoever sleeps is woken, and nobody sleeps any more. */
  close(): void;
}

/** A timer of Node holds at most this much; whoever waits longer looks again. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createClock(anchor: ClockAnchor, realNowMs: () => number = Date.now): FakeClock {
  let { realMs, fakeMs, speed } = anchor;
  let closed = false;
  const listeners = new Set<() => void>();
  const nowMs = (): number => Math.floor(fakeMs + (realNowMs() - realMs) * speed);
  const tell = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const jump = (toMs: number, nextSpeed: number): void => {
    fakeMs = toMs;
    realMs = realNowMs();
    speed = nextSpeed;
    tell();
  };
  const realMsUntil = (untilMs: number): number => {
    if (untilMs <= nowMs()) return 0;
    return speed === 0 ? Number.POSITIVE_INFINITY : Math.ceil((untilMs - nowMs()) / speed);
  };
  async function untilJumpOr(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const stop = new AbortController();
    const jumped = (): void => stop.abort();
    listeners.add(jumped);
    signal?.addEventListener('abort', jumped, { once: true });
    await wait(Math.min(ms, LONGEST_TIMER_MS), undefined, { signal: stop.signal }).catch(() => undefined);
    listeners.delete(jumped);
  }

  return {
    nowMs,
    anchor: () => ({ realMs, fakeMs, speed }),
    advance(ms) {
      if (!(ms >= 0)) throw new Error('the clock only moves forward');
      jump(nowMs() + ms, speed);
    },
    setSpeed(next) {
      if (!(next >= 0)) throw new Error('the speed of the clock is not negative');
      jump(nowMs(), next);
    },
    async sleep(ms, signal) {
      const untilMs = nowMs() + ms;
      while (nowMs() < untilMs && !closed && !signal?.aborted)
        await untilJumpOr(realMsUntil(untilMs), signal);
    },
    onJump: (listener) => void listeners.add(listener),
    realMsUntil,
    close() {
      closed = true;
      tell();
    },
  };
}
