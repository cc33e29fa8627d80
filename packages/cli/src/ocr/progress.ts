const BAR_WIDTH = 24;
const ERASE_LINE = '\r\u001b[2K';

export interface Progress {
  page(of: number | undefined, failed: boolean): void;
  note(text: string): void;
  /** wipes the bar, so that other output stands alone */
  clear(): void;
}

interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A bar on a terminal, nothing elsewhere: a log is no place for carriage returns. */
export function createProgress(name: string, terminal: Terminal, nowMs: () => number): Progress {
  const startedMs = nowMs();
  const counts = { done: 0, failed: 0, of: undefined as number | undefined };

  const draw = (note = ''): void => {
    if (!terminal.isTTY) return;
    const line = `${describeProgress(name, counts, nowMs() - startedMs)}${note ? `  ${note}` : ''}`;
    terminal.write(ERASE_LINE + line.slice(0, (terminal.columns ?? 80) - 1));
  };
  draw();
  return {
    page(of, failed) {
      counts.done += 1;
      if (failed) counts.failed += 1;
      counts.of = of ?? counts.of;
      draw();
    },
    note: draw,
    clear: () => {
      if (terminal.isTTY) terminal.write(ERASE_LINE);
    },
  };
}

function describeProgress(
  name: string,
  { done, failed, of }: { done: number; failed: number; of: number | undefined },
  elapsedMs: number,
): string {
  const filled = of === undefined || of === 0 ? 0 : Math.min(BAR_WIDTH, Math.round((BAR_WIDTH * done) / of));
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`;
  const rate = elapsedMs > 0 ? ((done * 1_000) / elapsedMs).toFixed(1) : '0.0';
  const total = of === undefined ? '' : `/${of}`;
  return `${name}  ${bar}  ${done}${total} pages${failed > 0 ? `, ${failed} failed` : ''}  ${rate} pages/s`;
}
