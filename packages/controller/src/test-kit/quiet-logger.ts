import { createLogger, type Logger } from '@pagefleet/runtime';

/** A logger whose lines a test may read; nothing is printed. */
export function quietLogger(): { logger: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const destination = {
    write: (text: string) => void lines.push(JSON.parse(text) as Record<string, unknown>),
  };
  return { logger: createLogger({ component: 'test', level: 'debug', destination }), lines };
}
