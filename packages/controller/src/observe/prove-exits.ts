import { isSameProcess } from '@pagefleet/runtime';
import { readPidRecord } from './pid-record.ts';
import type { WorkerBook } from './worker-book.ts';

/**
 * For workers that no primary vouches for any more: their pid record says which process they were, and that process is
 * gone. Without a record nothing is proven.
 */
export async function proveExits(
  book: WorkerBook,
  options: { readonly recordFile: (bootId: string) => string; readonly nowMs: () => number },
): Promise<string[]> {
  const proven: string[] = [];
  for (const { bootId } of book.unlisted()) {
    const record = await readPidRecord(options.recordFile(bootId));
    if (record === null || (await isSameProcess(record.process))) continue;
    if (book.markExited(bootId, options.nowMs())) proven.push(bootId);
  }
  return proven;
}
