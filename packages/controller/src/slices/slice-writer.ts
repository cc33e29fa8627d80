import type { Slice } from '@pagefleet/contract';
import type { Bucket, Logger } from '@pagefleet/runtime';

const ATTEMPTS = 3;

interface WriterOptions {
  readonly bucket: Bucket<Slice>;
  readonly logger: Logger;
  /** the newest slice of this worker did not get through, or is not there any more: plan and write it again */
  readonly onLost: (bootId: string) => void;
  /** somebody with a higher epoch writes slices */
  readonly onSuperseded: (epoch: number) => void;
}

/**
 * Puts slices into their bucket by compare-and-set, one put per worker at a time, always the newest. A put whose answer is
 * lost may still happen later; its revision then no longer fits the next one, which reads and tries again.
 */
export class SliceWriter {
  readonly #options: WriterOptions;
  readonly #revisions = new Map<string, number>();
  readonly #waiting = new Map<string, Slice>();
  readonly #running = new Set<string>();
  readonly #written = new Set<string>();
  readonly #unwatch: () => void;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#unwatch = options.bucket.watch('*', (bootId, value, revision) =>
      this.#observe(bootId, value, revision),
    );
  }

  put(slice: Slice): void {
    this.#waiting.set(slice.bootId, slice);
    if (!this.#running.has(slice.bootId)) void this.#drain(slice.bootId);
  }

  /** The record of a worker that has exited. */
  async remove(bootId: string): Promise<void> {
    this.#waiting.delete(bootId);
    this.#written.delete(bootId);
    this.#revisions.delete(bootId);
    try {
      await this.#options.bucket.remove(bootId);
    } catch (err) {
      this.#options.logger.debug({ err, bootId }, 'slice_not_removed');
    }
  }

  keys(): string[] {
    return [...this.#revisions.keys()];
  }

  close(): void {
    this.#unwatch();
    this.#waiting.clear();
  }

  #observe(bootId: string, value: Slice | null, revision: number): void {
    if (value !== null) {
      this.#revisions.set(bootId, revision);
      return;
    }
    this.#revisions.delete(bootId);
    // The bucket or the whole server lost its memory; a worker that starts now would find nothing.
    if (this.#written.has(bootId) && !this.#running.has(bootId)) this.#options.onLost(bootId);
  }

  async #drain(bootId: string): Promise<void> {
    this.#running.add(bootId);
    try {
      for (let slice = this.#take(bootId); slice !== undefined; slice = this.#take(bootId)) {
        const stored = await this.#write(slice);
        if (stored) this.#written.add(bootId);
        else if (!this.#waiting.has(bootId)) this.#options.onLost(bootId);
      }
    } finally {
      this.#running.delete(bootId);
    }
  }

  #take(bootId: string): Slice | undefined {
    const slice = this.#waiting.get(bootId);
    this.#waiting.delete(bootId);
    return slice;
  }

  async #write(slice: Slice): Promise<boolean> {
    const { bucket, logger } = this.#options;
    const { bootId } = slice;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const outcome = await bucket.write(bootId, slice, this.#revisions.get(bootId) ?? 0);
      if (outcome.kind === 'written') {
        this.#revisions.set(bootId, outcome.revision);
        return true;
      }
      if (outcome.kind === 'unknown') logger.warn({ err: outcome.cause, bootId }, 'slice_put_unknown');
      if (!(await this.#reread(slice))) return false;
    }
    return false;
  }

  /** false: nothing can be read, or a newer record is there already */
  async #reread({ bootId, epoch, rev }: Slice): Promise<boolean> {
    const held = await this.#options.bucket.get(bootId).catch(() => undefined);
    if (held === undefined) return false;
    if (held === null) {
      this.#revisions.delete(bootId);
      return true;
    }
    this.#revisions.set(bootId, held.revision);
    if (held.value.epoch > epoch) this.#options.onSuperseded(held.value.epoch);
    return held.value.epoch < epoch || (held.value.epoch === epoch && held.value.rev < rev);
  }
}
