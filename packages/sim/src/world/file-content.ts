import type { Prng } from '../hand-over/prng.ts';

/** One file: what its readers see, and what a power cut would leave of it. */
export class FileContent {
  #bytes = Buffer.alloc(0);
  #length = 0;
  #synced = Buffer.alloc(0);
  #syncedLength = 0;
  /** what lies before it is the same in both */
  #dirtyFrom = 0;

  static of(bytes: Buffer): FileContent {
    const content = new FileContent();
    content.write(bytes, 0);
    content.sync();
    return content;
  }

  read(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#length));
  }

  get synced(): Buffer {
    return this.#synced.subarray(0, this.#syncedLength);
  }

  write(data: Buffer, position: number): void {
    const end = position + data.length;
    if (end > this.#bytes.length) this.#bytes = grown(this.#bytes, end);
    data.copy(this.#bytes, position);
    this.#length = Math.max(this.#length, end);
    this.#dirtyFrom = Math.min(this.#dirtyFrom, position);
  }

  truncate(length: number): void {
    this.#length = length;
    this.#dirtyFrom = Math.min(this.#dirtyFrom, length);
  }

  sync(): void {
    if (this.#length > this.#synced.length) this.#synced = grown(this.#synced, this.#length);
    this.#bytes.copy(this.#synced, this.#dirtyFrom, this.#dirtyFrom, this.#length);
    this.#syncedLength = this.#length;
    this.#dirtyFrom = this.#length;
  }

  /** What a power cut leaves: all that was synced, and some of what was written behind it. */
  afterPowerCut(prng: Prng): FileContent {
    const isAppended = this.#dirtyFrom >= this.#syncedLength && this.#length > this.#syncedLength;
    if (!isAppended || prng.chance(0.5)) return FileContent.of(this.synced);
    const kept = this.#syncedLength + prng.int(this.#length - this.#syncedLength + 1);
    return FileContent.of(this.#bytes.subarray(0, kept));
  }
}

function grown(bytes: Buffer, atLeast: number): Buffer<ArrayBuffer> {
  const larger = Buffer.alloc(Math.max(4_096, 2 * atLeast));
  bytes.copy(larger);
  return larger;
}
