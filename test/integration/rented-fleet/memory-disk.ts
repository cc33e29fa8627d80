interface Content {
  bytes: Buffer;
  length: number;
}

/**
 * A journal's folder that is memory, so that nothing is in flight but calls to the cloud. It is what a killed process leaves
 * behind; that a power cut loses nothing is shown elsewhere.
 */
export function createMemoryDisk() {
  const files = new Map<string, Content>();
  return {
    async read(path: string): Promise<Buffer | null> {
      const file = files.get(path);
      return file === undefined ? null : Buffer.from(file.bytes.subarray(0, file.length));
    },
    async openForWriting(path: string) {
      const file = files.get(path) ?? { bytes: Buffer.alloc(65_536), length: 0 };
      files.set(path, file);
      return {
        async write(data: Buffer, position: number): Promise<void> {
          const end = position + data.length;
          if (end > file.bytes.length) file.bytes = Buffer.concat([file.bytes, Buffer.alloc(2 * end)]);
          data.copy(file.bytes, position);
          file.length = Math.max(file.length, end);
        },
        async truncate(length: number): Promise<void> {
          file.length = length;
        },
        datasync: () => Promise.resolve(),
        close: () => Promise.resolve(),
      };
    },
    async rename(from: string, to: string): Promise<void> {
      const file = files.get(from);
      if (file === undefined) throw new Error(`there is no ${from}`);
      files.delete(from);
      files.set(to, file);
    },
    syncFolder: () => Promise.resolve(),
  };
}
