import { open, readFile } from 'node:fs/promises';

/** A body or page held in memory or in a spool file, and counted in the byte budget until it is released. */
export type HeldBytes = HeldInMemory | HeldInFile;

interface Held {
  readonly size: number;
  /** Gives the bytes back to the budget and removes the file; later calls do nothing. */
  release(): void;
}

export interface HeldInMemory extends Held {
  readonly place: 'memory';
  /** as they came: joined only for those who need them in one piece, which costs a page a tenth of its way */
  readonly chunks: readonly Uint8Array[];
}

interface HeldInFile extends Held {
  readonly place: 'file';
  readonly path: string;
}

/** A PDF header may start within the first 1,024 bytes. */
const HEAD_BYTES = 2_048;

/** The first bytes: enough to tell what a document is. */
export async function readHead(held: HeldBytes): Promise<Uint8Array> {
  if (held.place === 'memory') return headOf(held.chunks);
  const file = await open(held.path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

export async function readAll(held: HeldBytes): Promise<Uint8Array> {
  return held.place === 'memory' ? joined(held) : readFile(held.path);
}

/** In one piece, without a copy when it is one already. */
export function joined({ chunks, size }: HeldInMemory): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only ? only : Buffer.concat(chunks, size);
}

function headOf(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  if (first && (chunks.length === 1 || first.length >= HEAD_BYTES)) return first.subarray(0, HEAD_BYTES);
  // Small chunks are kept together, so the head lies in the first few.
  return Buffer.concat(chunks.slice(0, 2)).subarray(0, HEAD_BYTES);
}
