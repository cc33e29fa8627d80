import { fstat, ftruncate, write } from 'node:fs';
import { copyFile, rename } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface PodLog {
  write(line: string): void;
  /** Resolves when everything that was written so far is out or given up. */
  flush(): Promise<void>;
}

export interface PodLogOptions {
  /** standard output */
  readonly fd: number;
  /** the file that the descriptor appends to, when it is ours to turn over */
  readonly path: string | null;
  /** above this the file becomes `<path>.1` and is emptied, so at most about twice as much is kept */
  readonly maxBytes: number;
}

const MAX_PENDING_BYTES = 4_000_000;

const sizeOf = promisify(fstat);
const truncate = promisify(ftruncate);
const writeSome = promisify(write);

/**
 * Writes lines in the background, one batch after another. The file is emptied in place, never replaced, because what
 * Node itself prints when it dies goes to the same descriptor; no line is lost between. Lines that cannot be written are
 * dropped: a full disk, or a pipe that nobody reads, must not end or hold up a pod that serves.
 */
export async function openPodLog({ fd, path, maxBytes }: PodLogOptions): Promise<PodLog> {
  let pending: string[] = [];
  let pendingBytes = 0;
  let fileBytes = path === null ? 0 : (await sizeOf(fd)).size;
  let writing: Promise<void> | null = null;

  async function writePending(): Promise<void> {
    // Lines of the same turn go out together.
    await Promise.resolve();
    while (pending.length > 0) {
      const text = Buffer.from(pending.join(''));
      pending = [];
      pendingBytes = 0;
      await writeOut(text).catch(() => undefined);
    }
    writing = null;
  }

  async function writeOut(text: Buffer): Promise<void> {
    if (path !== null && fileBytes > 0 && fileBytes + text.length > maxBytes) await turnOver(path);
    for (let written = 0; written < text.length; ) {
      const { bytesWritten } = await writeSome(fd, text, written);
      written += bytesWritten;
      fileBytes += bytesWritten;
    }
  }

  async function turnOver(file: string): Promise<void> {
    await copyFile(file, `${file}.new`);
    await rename(`${file}.new`, `${file}.1`);
    await truncate(fd, 0);
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
  };
}
