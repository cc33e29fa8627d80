import { copyFile, open, rename, stat } from 'node:fs/promises';

export interface CappedLog {
  write(line: string): void;
  /** Resolves when everything that was written so far is in the file or given up. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface CappedLogOptions {
  readonly path: string;
  /** above this the file becomes `<path>.1` and is emptied, so at most about twice as much is kept */
  readonly maxBytes: number;
}

const MAX_PENDING_BYTES = 4_000_000;

/**
 * Appends lines to the file that is also our standard output. It is emptied in place, never replaced, because what Node
 * itself prints when it dies goes to the descriptor. Lines are written one after another and none is lost between; on a
 * full disk they are dropped: a pod goes on serving.
 */
export async function openCappedLog({ path, maxBytes }: CappedLogOptions): Promise<CappedLog> {
  const file = await open(path, 'a', 0o600);
  let pending: string[] = [];
  let pendingBytes = 0;
  let fileBytes = (await stat(path)).size;
  let writing: Promise<void> | null = null;

  async function writePending(): Promise<void> {
    // Lines of the same turn go out together.
    await Promise.resolve();
    while (pending.length > 0) {
      const text = Buffer.from(pending.join(''));
      pending = [];
      pendingBytes = 0;
      try {
        if (fileBytes > 0 && fileBytes + text.length > maxBytes) await turnOver();
        await file.appendFile(text);
        fileBytes += text.length;
      } catch {
        // Nobody is left to tell; the next line may find room again.
      }
    }
    writing = null;
  }

  async function turnOver(): Promise<void> {
    await copyFile(path, `${path}.new`);
    await rename(`${path}.new`, `${path}.1`);
    await file.truncate(0);
    fileBytes = 0;
  }

  return {
    write(line) {
      if (pendingBytes + line.length > MAX_PENDING_BYTES) return;
      pending.push(line);
      pendingBytes += line.length;
      writing ??= writePending();
    },
    async flush() {
      await writing;
    },
    async close() {
      await writing;
      await file.close();
    },
  };
}
