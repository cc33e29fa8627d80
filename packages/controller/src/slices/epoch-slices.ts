import type { EpochGuard } from '../epoch-guard.ts';
import { type KeeperOptions, SliceKeeper } from './slice-keeper.ts';

interface EpochSlicesOptions extends Omit<KeeperOptions, 'epoch' | 'onSuperseded'> {
  readonly guard: Pick<EpochGuard, 'epoch' | 'outbid'>;
  /** an epoch is held, so that reports mean something */
  readonly onOpened: () => void;
}

/** The slices of the epoch that is held now. Hand-over starts anew with every epoch, so its keeper does too. */
export class EpochSlices {
  readonly #options: EpochSlicesOptions;
  #keeper: SliceKeeper | null = null;
  #closed = false;

  constructor(options: EpochSlicesOptions) {
    this.#options = options;
  }

  /** After the epoch was raised. */
  open(): void {
    const { guard, onOpened, ...options } = this.#options;
    const epoch = guard.epoch();
    this.#keeper?.close();
    if (this.#closed || epoch === 0) return;
    this.#keeper = new SliceKeeper({
      ...options,
      epoch,
      onSuperseded: async (seen) => {
        if (await guard.outbid(seen)) this.open();
      },
    });
    onOpened();
  }

  /** The rev a worker has to acknowledge to be up to date; null = it was told nothing yet. */
  newestRev(bootId: string): number | null {
    return this.#keeper?.newestRev(bootId) ?? null;
  }

  planSoon(): void {
    this.#keeper?.planSoon();
  }

  close(): void {
    this.#closed = true;
    this.#keeper?.close();
  }
}
