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
  let inWindow = 0;
  const needed = limits.minBytesPerSecond * (WINDOW_MS / 1_000);

  function fail(message: string): void {
    stop();
    onFail(new PagefleetError('upload_too_slow', message));
  }

  const rate = setInterval(() => {
    if (inWindow < needed) {
      fail(`the body came with ${inWindow} bytes in ${WINDOW_MS / 1_000} s; at least ${needed} are needed`);
    }
    inWindow = 0;
  }, WINDOW_MS);
  const deadline = setTimeout(
    () => fail(`the body took longer than ${limits.deadlineMs / 1_000} s`),
    limits.deadlineMs,
  );

  function stop(): void {
    clearInterval(rate);
    clearTimeout(deadline);
  }

  return {
    count(bytes) {
      inWindow += bytes;
    },
    stop,
  };
}
