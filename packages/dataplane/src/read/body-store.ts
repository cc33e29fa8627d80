import { join } from 'node:path';
import { PagefleetError } from '@pagefleet/contract';
import type { ByteBudget } from './byte-budget.ts';
import { createChunkList } from './chunk-list.ts';
import type { HeldBytes } from './held-bytes.ts';
import { createSpoolFile, type SpoolFile } from './spool-file.ts';

/**
 * Above this a body goes to the spool even if memory has room: copying more into a thread would hold up the event loop
 * for longer than a few milliseconds (25 ms for 29 MB, measured), while a thread reads a file by itself.
 */
const IN_MEMORY_MAX_BYTES = 4 * 1024 * 1024;

export interface BodySink {
  /** Returns a promise when the writer must wait. Rejects with `payload_too_large` or `spool_full`. */
  write(chunk: Uint8Array): Promise<void> | undefined;
  finish(): Promise<HeldBytes>;
  /** Gives everything back; does nothing after `finish`. */
  abandon(): void;
}

/** Two budgets, memory first, then disk; a body is refused only when it fits neither. */
export interface BodyStore {
  sink(maxBytes: number): BodySink;
  /** Holds bytes that exist already, such as a page split off. */
  hold(bytes: Uint8Array): Promise<HeldBytes>;
}

export interface BodyStoreOptions {
  readonly budget: ByteBudget;
  readonly spoolDir: string;
  /** Spool files begin with it, so that those of a dead process can be told. */
  readonly bootId: string;
}

export function createBodyStore(options: BodyStoreOptions): BodyStore {
  const { budget } = options;
  let files = 0;

  function newFile(): Promise<SpoolFile> {
    files += 1;
    return createSpoolFile(join(options.spoolDir, `${options.bootId}-${files}`));
  }

  function sink(maxBytes: number): BodySink {
    return createSink(maxBytes, budget, newFile);
  }

  async function hold(bytes: Uint8Array): Promise<HeldBytes> {
    const into = sink(Number.POSITIVE_INFINITY);
    try {
      await into.write(bytes);
      return await into.finish();
    } finally {
      into.abandon();
    }
  }

  return { sink, hold };
}

function createSink(maxBytes: number, budget: ByteBudget, newFile: () => Promise<SpoolFile>): BodySink {
  let size = 0;
  // invariant: exactly `counted` bytes of `place` are taken from the budget and belong to this sink
  let place: 'memory' | 'spool' = 'memory';
  let counted = 0;
  const chunks = createChunkList();
  let file: Promise<SpoolFile> | null = null;
  let over = false;

  function take(bytes: number): boolean {
    if (!budget.tryTake(place, bytes)) return false;
    counted += bytes;
    return true;
  }

  function write(chunk: Uint8Array): Promise<void> | undefined {
    if (over) return undefined;
    size += chunk.length;
    if (size > maxBytes) return Promise.reject(tooLarge(maxBytes));
    if (file) return take(chunk.length) ? append(file, chunk) : Promise.reject(noRoom());
    if (size <= IN_MEMORY_MAX_BYTES && take(chunk.length)) {
      chunks.add(chunk);
      return undefined;
    }
    if (budget.tryTake('spool', size)) return moveToFile(chunk);
    if (!take(chunk.length)) return Promise.reject(noRoom());
    chunks.add(chunk);
    return undefined;
  }

  async function moveToFile(last: Uint8Array): Promise<void> {
    const before = chunks.take();
    budget.give('memory', counted);
    place = 'spool';
    counted = size;
    file = newFile();
    for (const chunk of before) await append(file, chunk);
    await append(file, last);
  }

  async function finish(): Promise<HeldBytes> {
    const opened = await file;
    await opened?.finish();
    if (over) throw new PagefleetError('client_gone', 'the body was given up while it was read');
    over = true;
    const release = once(() => {
      budget.give(place, counted);
      opened?.remove();
    });
    if (opened) return { place: 'file', path: opened.path, size, release };
    return { place: 'memory', chunks: chunks.take(), size, release };
  }

  function abandon(): void {
    if (over) return;
    over = true;
    chunks.take();
    budget.give(place, counted);
    file?.then((opened) => opened.remove()).catch(() => undefined);
  }

  return { write, finish, abandon };
}

async function append(file: Promise<SpoolFile>, chunk: Uint8Array): Promise<void> {
  await (await file).append(chunk);
}

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    act();
  };
}

function tooLarge(maxBytes: number): PagefleetError {
  return new PagefleetError('payload_too_large', `the body is larger than the limit of ${maxBytes} bytes`, {
    details: { max_bytes: maxBytes },
  });
}

function noRoom(): PagefleetError {
  return new PagefleetError(
    'spool_full',
    'there is no room left to hold the body, neither in memory nor on disk',
  );
}
