/** Chunks at least this large are kept as they came; smaller ones are copied together. */
const LARGE_BYTES = 16 * 1024;
const BLOCK_BYTES = 64 * 1024;

/**
 * A body in memory as it comes in. A sender that drips single bytes must not make a million buffers, each many times as
 * large as what it holds and none of that counted.
 */
export interface ChunkList {
  add(chunk: Uint8Array): void;
  /** In order; the list is empty afterwards. */
  take(): Uint8Array[];
}

export function createChunkList(): ChunkList {
  let chunks: Uint8Array[] = [];
  let block = Buffer.alloc(0);
  let used = 0;

  function closeBlock(): void {
    if (used > 0) chunks.push(block.subarray(0, used));
    block = block.subarray(used);
    used = 0;
  }

  return {
    add(chunk) {
      if (chunk.length >= LARGE_BYTES) {
        closeBlock();
        chunks.push(chunk);
        return;
      }
      if (used + chunk.length > block.length) {
        closeBlock();
        block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      }
      block.set(chunk, used);
      used += chunk.length;
    },
    take() {
      closeBlock();
      const taken = chunks;
      chunks = [];
      block = Buffer.alloc(0);
      return taken;
    },
  };
}
