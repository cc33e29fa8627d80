import { fstatSync, openSync, write, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';

/** Kept in memory while a reader of our output does not read; what is beyond is lost, the process is not. */
const MAX_BUFFERED_CHARS = 4_000_000;
const CHUNK_CHARS = 64 * 1024;
const FULL_PIPE_RETRY_MS = 50;
/** how long the end of a process waits for a reader */
const END_PATIENCE_MS = 500;
const END_POLL_MS = 10;
const EMPTY = Buffer.alloc(0);

const outputs = new Map<number, LogOutput>();

/** The one writer of a descriptor: two would cut each other's lines. */
export function logOutputOf(fd: number): LogOutput {
  const output = outputs.get(fd) ?? new LogOutput(fd);
  outputs.set(fd, output);
  return output;
}

/**
 * Lines to a descriptor, in the background. A full disk and a reader that does not read cost lines, never the process: not
 * while it runs and not when it ends. What was lost is said by the next line that can be written.
 */
export class LogOutput {
  #fd: number;
  #successor: string | null = null;
  #waiting: string[] = [];
  #waitingChars = 0;
  /** what of the chunk in hand is not written yet, and the lines it stands for */
  #chunk: Buffer = EMPTY;
  #chunkLines = 0;
  #lost = 0;
  #isMidLine = false;
  #state: 'idle' | 'writing' | 'pausing' | 'gone' = 'idle';
  #onIdle: (() => void)[] = [];

  constructor(fd: number) {
    this.#fd = fd;
    dontBlock(fd);
    process.on('exit', () => this.#finishNow());
  }

  /** A reader that goes away, as a supervisor's does when our parent has died, is followed by this file. */
  succeededBy(file: string): void {
    this.#successor = file;
  }

  write(line: string): void {
    if (this.#state === 'gone' || this.#waitingChars + line.length > MAX_BUFFERED_CHARS) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push(line);
    this.#waitingChars += line.length;
    if (this.#state === 'idle') this.#next();
  }

  /** Calls back when all is written, or a reader was waited for long enough. */
  flush(done: () => void): void {
    if (this.#state === 'idle' || this.#state === 'gone') {
      done();
      return;
    }
    const isWritten = new Promise<void>((resolve) => this.#onIdle.push(resolve));
    void Promise.race([isWritten, sleep(END_PATIENCE_MS)]).then(done);
  }

  #next(): void {
    if (!this.#fill()) {
      this.#state = 'idle';
      for (const done of this.#onIdle.splice(0)) done();
      return;
    }
    this.#state = 'writing';
    write(this.#fd, this.#chunk, 0, this.#chunk.length, null, (error, written) => {
      if (error) this.#onError(error);
      else this.#onWritten(written);
      if (this.#state === 'writing') this.#next();
    });
  }

  /** False when there is nothing to write. */
  #fill(): boolean {
    if (this.#chunk.length > 0) return true;
    if (this.#waiting.length === 0) return false;
    let count = 0;
    let chars = 0;
    for (const line of this.#waiting) {
      if (count > 0 && chars + line.length > CHUNK_CHARS) break;
      count += 1;
      chars += line.length;
    }
    const text = this.#waiting.splice(0, count).join('');
    this.#waitingChars -= chars;
    this.#chunk = Buffer.from(`${this.#isMidLine ? '\n' : ''}${describeLoss(this.#lost)}${text}`);
    this.#chunkLines = count + this.#lost;
    this.#lost = 0;
    return true;
  }

  #onWritten(bytes: number): void {
    this.#chunk = this.#chunk.subarray(bytes);
    this.#isMidLine = this.#chunk.length > 0;
  }

  #onError({ code }: NodeJS.ErrnoException): void {
    if (code === 'EAGAIN') {
      this.#state = 'pausing';
      setTimeout(() => this.#next(), FULL_PIPE_RETRY_MS).unref();
      return;
    }
    if (code === 'EPIPE' && this.#openSuccessor()) return;
    this.#lost += this.#chunkLines;
    this.#chunk = EMPTY;
    if (code !== 'EPIPE') return;
    // Nobody will ever read again.
    this.#state = 'gone';
    this.#waiting = [];
    for (const done of this.#onIdle.splice(0)) done();
  }

  #openSuccessor(): boolean {
    if (this.#successor === null) return false;
    try {
      this.#fd = openSync(this.#successor, 'a', 0o600);
    } catch {
      return false;
    }
    this.#successor = null;
    this.#isMidLine = false;
    return true;
  }

  /** The process ends: no callback comes any more. What a thread of the pool holds now, it still writes. */
  #finishNow(): void {
    if (this.#state === 'gone') return;
    if (this.#state === 'writing') this.#chunk = EMPTY;
    const deadlineMs = performance.now() + END_PATIENCE_MS;
    while (this.#fill()) {
      try {
        this.#onWritten(writeSync(this.#fd, this.#chunk));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'EPIPE' && this.#openSuccessor()) continue;
        if (code !== 'EAGAIN' || performance.now() > deadlineMs) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, END_POLL_MS);
      }
    }
  }
}

function describeLoss(lines: number): string {
  if (lines === 0) return '';
  return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), lines, event: 'log_lines_lost' })}\n`;
}

/**
 * A write to a full pipe shall fail, not wait: a waiting one holds a thread of the pool, and with it the end of the process.
 * Node sets pipes so when its own stream for them is first looked at; others it cannot set.
 */
function dontBlock(fd: number): void {
  if (!isMainThread || !isPipe(fd)) return;
  if (fd === 1) void process.stdout;
  if (fd === 2) void process.stderr;
}

function isPipe(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false;
  }
}
