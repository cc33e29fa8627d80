import { type FileHandle, open, readFile, rename } from 'node:fs/promises';

/** The few file operations the journal rests on: a seam, so that tests can stop the machine between any two of them. */
export interface JournalFs {
  /** null = there is no such file */
  read(path: string): Promise<Buffer | null>;
  /** opens for positioned writing, creating the file (0600) */
  openForWriting(path: string): Promise<JournalHandle>;
  rename(from: string, to: string): Promise<void>;
  /** makes a rename in this folder survive a power cut */
  syncFolder(path: string): Promise<void>;
}

export interface JournalHandle {
  /** writes all of `data` at `position`, or throws */
  write(data: Buffer, position: number): Promise<void>;
  truncate(length: number): Promise<void>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

export const realJournalFs: JournalFs = {
  async read(path) {
    try {
      return await readFile(path);
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  },
  async openForWriting(path) {
    // Not 'a': appending ignores positions, and a half-written line must be overwritten by the next one.
    const handle = await openExistingOrNew(path);
    return {
      write: (data, position) => writeFully(handle, data, position),
      truncate: (length) => handle.truncate(length),
      datasync: () => handle.datasync(),
      close: () => handle.close(),
    };
  },
  rename,
  async syncFolder(path) {
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

async function openExistingOrNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+');
  } catch (error) {
    if (isMissing(error)) return await open(path, 'w+', 0o600);
    throw error;
  }
}

async function writeFully(handle: FileHandle, data: Buffer, position: number): Promise<void> {
  let done = 0;
  while (done < data.length) {
    const { bytesWritten } = await handle.write(data, done, data.length - done, position + done);
    done += bytesWritten;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'ENOENT';
}
