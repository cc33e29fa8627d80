import { PagefleetError } from '@pagefleet/contract';

/** The least rate is measured over windows of this length. */
const WINDOW_MS = 10_000;

export interface UploadGuard {
  count(bytes: number): void;
  stop(): void;
}

export interface UploadLimits {
  readonly minBytesPerSecond: number;
  readonly deadlineMs: number;
}

/** Calls `onFail` once when an upload is slower than the least rate or takes longer than its deadline. */
export function startUploadGuard(limits: UploadLimits, onFail: (error: PagefleetError) => void): UploadGuard {
  const needed = limits.minBytesPerSecond * (WINDOW_MS / 1_000);
  let inWindow = 0;
  let leftMs = limits.deadlineMs;
  let timer = setTimeout(look, Math.min(WINDOW_MS, leftMs));

  function look(): void {
    const windowMs = Math.min(WINDOW_MS, leftMs);
    leftMs -= windowMs;
    if (leftMs <= 0) {
      onFail(tooSlow(`the body took longer than ${limits.deadlineMs / 1_000} s`));
    } else if (inWindow < needed) {
      onFail(
        tooSlow(
          `the body came with ${inWindow} bytes in ${windowMs / 1_000} s; at least ${needed} are needed`,
        ),
      );
    } else {
      inWindow = 0;
      timer = setTimeout(look, Math.min(WINDOW_MS, leftMs));
    }
  }

  return {
    count(bytes) {
      inWindow += bytes;
    },
    stop: () => clearTimeout(timer),
  };
}

function tooSlow(message: string): PagefleetError {
  return new PagefleetError('upload_too_slow', message);
}
