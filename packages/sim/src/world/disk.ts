import type { Prng } from '../hand-over/prng.ts';
import { FileContent } from './file-content.ts';
import type { Life } from './life.ts';

/** The file operations that a journal rests on. */
export interface DiskCalls {
  read(path: string): Promise<Buffer | null>;
  openForWriting(path: string): Promise<DiskHandle>;
  rename(from: string, to: string): Promise<void>;
  syncFolder(path: string): Promise<void>;
}

export interface DiskHandle {
  write(data: Buffer, position: number): Promise<void>;
  truncate(length: number): Promise<void>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

const READ = { sendMs: 1, backMs: 0 };
const SYNC = { sendMs: 2, backMs: 0 };

/**
 * One folder. A write is in the page cache until it is synced, a rename until the folder is: a killed process loses neither,
 * a power cut may lose both, in part.
 */
export class Disk {
  isFull = false;
  #files = new Map<string, FileContent>();
  #syncedNames = new Map<string, FileContent>();

  /** whether a text would survive a power cut at this moment */
  holds(text: string): boolean {
    return [...this.#syncedNames.values()].some(({ synced }) => synced.includes(text));
  }

  powerCut(prng: Prng): void {
    const names = prng.chance(0.7) ? this.#syncedNames : this.#files;
    this.#files = new Map([...names].map(([path, content]) => [path, content.afterPowerCut(prng)]));
    this.#syncedNames = new Map(this.#files);
  }

  erase(): void {
    this.#files.clear();
    this.#syncedNames.clear();
  }

  /** the same folder on another machine, as a power cut would have left it */
  copy(): Disk {
    const copy = new Disk();
    copy.#files = new Map([...this.#syncedNames].map(([path, { synced }]) => [path, FileContent.of(synced)]));
    copy.#syncedNames = new Map(copy.#files);
    return copy;
  }

  callsOf(life: Life): DiskCalls {
    return {
      read: (path) => life.call('read', () => this.#files.get(path)?.read() ?? null, READ),
      openForWriting: async (path) => this.#handle(await life.touch('write', () => this.#open(path)), life),
      rename: (from, to) => life.touch('rename', () => this.#rename(from, to)),
      syncFolder: () => life.call('sync', () => this.#syncNames(), SYNC),
    };
  }

  #handle(content: FileContent, life: Life): DiskHandle {
    return {
      write: (data, position) => life.touch('write', () => this.#write(content, data, position)),
      truncate: (length) => life.touch('write', () => content.truncate(length)),
      datasync: () => life.call('sync', () => content.sync(), SYNC),
      close: () => Promise.resolve(),
    };
  }

  #syncNames(): void {
    this.#syncedNames = new Map(this.#files);
  }

  #open(path: string): FileContent {
    if (this.isFull) throw noSpace();
    const content = this.#files.get(path) ?? new FileContent();
    this.#files.set(path, content);
    return content;
  }

  /** A full disk takes the first half. */
  #write(content: FileContent, data: Buffer, position: number): void {
    content.write(this.isFull ? data.subarray(0, data.length >> 1) : data, position);
    if (this.isFull) throw noSpace();
  }

  #rename(from: string, to: string): void {
    const content = this.#files.get(from);
    if (content === undefined) throw new Error(`there is no ${from}`);
    this.#files.delete(from);
    this.#files.set(to, content);
  }
}

function noSpace(): Error {
  return Object.assign(new Error('no space left on the device'), { code: 'ENOSPC' });
}
