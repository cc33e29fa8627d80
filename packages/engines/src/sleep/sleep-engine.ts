import { setTimeout as sleep } from 'node:timers/promises';
import { PagefleetError, type PageResult } from '@pagefleet/contract';
import { createEngineLife } from '../engine-life.ts';
import type { Engine, PageInput, SleepSettings } from '../port.ts';
import { readSleepMarks } from './sleep-marks.ts';

const SLEEP_TEXT = 'engine: sleep; this text is simulated; nothing was read';

/**
 * Holds each page for a set time and says so in every answer. It exists for load and chaos tests and opens no page.
 * The bytes of a page may carry marks that change how it is treated: see `readSleepMarks`.
 */
export function createSleepEngine(settings: SleepSettings): Engine {
  async function read(page: PageInput): Promise<PageResult> {
    if (page.bytes.length === 0) throw new PagefleetError('page_unreadable', 'the page has no bytes');
    const marks = readSleepMarks(page.bytes);
    const startedMs = performance.now();
    const holdMs = marks.sleepMs ?? settings.sleepMs + jitterOf(page.bytes, settings.jitterMs ?? 0);
    await sleep(holdMs, undefined, { signal: page.signal });
    if (marks.refuse) throw new PagefleetError('engine_failed', 'engine: sleep; the page asks to be refused');
    if (marks.pageFault)
      throw new PagefleetError('page_unreadable', 'engine: sleep; the page asks to be unreadable');
    return {
      text: SLEEP_TEXT,
      markdown: SLEEP_TEXT,
      confidence: null,
      width: 0,
      height: 0,
      dpi: 1,
      rotation: 0,
      engine: 'sleep',
      engineMs: performance.now() - startedMs,
    };
  }

  return createEngineLife(
    { name: 'sleep', version: () => '1', open: async () => undefined, read, close: async () => undefined },
    settings.width,
  );
}

/** FNV-1a over at most 4 KiB: the same page is always held equally long. */
function jitterOf(bytes: Uint8Array, jitterMs: number): number {
  if (jitterMs <= 0) return 0;
  let hash = 0x811c9dc5;
  for (const byte of bytes.subarray(-4096)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash % (jitterMs + 1);
}
