import { open, readFile } from 'node:fs/promises';

/** A body or page held in memory or in a spool file, and counted in the byte budget until it is released. */
export type HeldBytes = HeldInMemory | HeldInFile;

interface Held {
  readonly size: number;
  /** Gives the bytes back to the budget and removes the file; later calls do nothing. */
  release(): void;
}

interface HeldInMemory extends Held {
  readonly place: 'memory';
  readonly bytes: Uint8Array;
}

interface HeldInFile extends Held {
  readonly place: 'file';
  readonly path: string;
}

/** A PDF header may start within the first 1,024 bytes. */
const HEAD_BYTES = 2_048;

/** The first bytes: enough to tell what a document is. */
export async function readHead(held: HeldBytes): Promise<Uint8Array> {
  if (held.place === 'memory') return held.bytes.subarray(0, HEAD_BYTES);
  const file = await open(held.path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

export async function readAll(held: HeldBytes): Promise<Uint8Array> {
  return held.place === 'memory' ? held.bytes : readFile(held.path);
}
