import type { Logger } from '@pagefleet/runtime';
import { type Clock, sleepOn } from './clock.ts';
import { checkEpoch, type EpochCheck, type EpochOptions, raiseEpoch } from './epoch.ts';

const RETRY_MS = 500;

interface GuardOptions extends Omit<EpochOptions, 'nowMs'> {
  readonly clock: Clock;
  readonly logger: Logger;
  /** the highest epoch the journal knows; asked at every attempt */
  readonly journalEpoch: () => number;
  /** puts a raised epoch into the journal */
  readonly record: (epoch: number) => Promise<boolean>;
  readonly onDeposed: () => void;
}

/** Whether this controller is in charge. Without NATS nobody is: workers go on with what they hold. */
export interface EpochGuard {
  /** 0 = none held yet */
  epoch(): number;
  check(): Promise<EpochCheck>;
  /** resolves once an epoch is held, or when stopped */
  start(): Promise<void>;
  /**
   * Workers have seen `epoch`, which is above ours, and yet the record in NATS is ours: journal and NATS had both lost their
   * memory. Takes a number above it, so that they listen again; false = somebody else is in charge, or nobody can say.
   */
  outbid(epoch: number): Promise<boolean>;
  stop(): void;
}

export function createEpochGuard(options: GuardOptions): EpochGuard {
  const { logger, clock } = options;
  const owner: EpochOptions = { ...options, nowMs: clock.nowMs };
  let held = 0;
  let stopped = false;
  let unwatch: (() => void) | null = null;

  function depose(by: number): void {
    if (stopped) return;
    stopped = true;
    unwatch?.();
    logger.error({ epoch: held, by }, 'controller_deposed');
    options.onDeposed();
  }

  async function raise(atLeast: number): Promise<number> {
    for (let attempt = 0; !stopped; attempt += 1) {
      try {
        return await raiseEpoch(owner, Math.max(atLeast, options.journalEpoch()));
      } catch (err) {
        if (attempt % 20 === 0) logger.warn({ err }, 'epoch_waits_for_nats');
        await sleepOn(clock, RETRY_MS);
      }
    }
    return 0;
  }

  async function check(): Promise<EpochCheck> {
    if (stopped) return 'deposed';
    if (held === 0) return 'unknown';
    const result = await checkEpoch(owner, held);
    if (result === 'deposed') depose(-1);
    return result;
  }

  async function take(atLeast: number): Promise<void> {
    const epoch = await raise(atLeast);
    if (stopped) return;
    await options.record(epoch);
    held = epoch;
    logger.info({ epoch, controllerId: options.controllerId }, 'epoch_raised');
  }

  return {
    epoch: () => held,
    check,
    async outbid(epoch) {
      if (epoch <= held) return false;
      if ((await check()) !== 'mine') return false;
      logger.warn({ held, seen: epoch }, 'epoch_below_what_workers_saw');
      await take(epoch);
      return !stopped;
    },
    async start() {
      await take(0);
      if (stopped) return;
      unwatch = options.bucket.watch('epoch', (_key, value) => {
        if (value === null) void checkEpoch(owner, held);
        else if (value.controllerId !== options.controllerId && value.epoch >= held) depose(value.epoch);
      });
    },
    stop() {
      stopped = true;
      unwatch?.();
    },
  };
}
