export interface SleepMarks {
  readonly sleepMs: number | null;
  readonly refuse: boolean;
  readonly pageFault: boolean;
}

/**
 * Marks in plain ASCII anywhere in the bytes of a page; only the sleep engine looks for them:
 *
 *   #pagefleet-sleep:<ms>#     hold this page for <ms> milliseconds
 *   #pagefleet-refuse#         then fail as a broken engine does (`engine_failed`)
 *   #pagefleet-page-fault#     then fail as a broken page does (`page_unreadable`)
 *
 * In a PDF a mark survives the split as an entry of the page's dictionary, `/Mark (#pagefleet-refuse#)`: content streams
 * are compressed on the way. In a picture it may be an EXIF description.
 */
export function readSleepMarks(bytes: Uint8Array): SleepMarks {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    sleepMs: readSleepMs(view),
    refuse: view.includes('#pagefleet-refuse#'),
    pageFault: view.includes('#pagefleet-page-fault#'),
  };
}

function readSleepMs(view: Buffer): number | null {
  const at = view.indexOf('#pagefleet-sleep:');
  if (at < 0) return null;
  const match = /^#pagefleet-sleep:(\d{1,9})#/.exec(view.toString('latin1', at, at + 32));
  return match ? Number(match[1]) : null;
}
