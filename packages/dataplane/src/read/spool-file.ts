import { unlinkSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { PagefleetError } from '@pagefleet/contract';

/** One file in the spool folder, readable by its owner only. */
export interface SpoolFile {
  readonly path: string;
  append(chunk: Uint8Array): Promise<void>;
  /** Closes it for reading by others. */
  finish(): Promise<void>;
  /** Removes it, finished or not; never throws. */
  remove(): void;
}

export async function createSpoolFile(path: string): Promise<SpoolFile> {
  let handle: FileHandle | null = await open(path, 'wx', 0o600).catch((cause) => {
    throw diskError(cause);
  });
  let removed = false;

  async function close(): Promise<void> {
    const closing = handle;
    handle = null;
    await closing?.close();
  }

  return {
    path,
    async append(chunk) {
      let done = 0;
      while (done < chunk.length) {
        if (!handle) throw new PagefleetError('client_gone', 'the body was given up while it was written');
        const { bytesWritten } = await handle.write(chunk, done, chunk.length - done).catch((cause) => {
          throw diskError(cause);
        });
        done += bytesWritten;
      }
    },
    finish: close,
    remove() {
      if (removed) return;
      removed = true;
      // Unlinking a name is one cheap call; doing it at once leaves no way out that forgets it.
      try {
        unlinkSync(path);
      } catch {
        // The folder was removed under us: nothing is left to remove.
      }
      close().catch(() => undefined);
    },
  };
}

function diskError(cause: unknown): PagefleetError {
  return new PagefleetError('spool_full', 'the body cannot be written to the spool on disk', { cause });
}
