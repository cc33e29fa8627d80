import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../logger.ts';

export interface ShutdownOptions {
  readonly logger: Logger;
  /** run one after another, in this order; one that fails is logged and the next one runs */
  readonly steps: readonly { readonly name: string; run(): Promise<void> }[];
  /** for all steps together; then the process ends with 1 */
  readonly timeoutMs: number;
  readonly signals?: readonly NodeJS.Signals[];
}

/** Ends the process in order at the first of the signals; later ones change nothing. */
export function onShutdown(options: ShutdownOptions): void {
  const { logger, signals = ['SIGTERM', 'SIGINT'] } = options;
  let stopping = false;
  const stop = async (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, 'stopping');
    const clean = await Promise.race([
      runSteps(options),
      sleep(options.timeoutMs).then(() => {
        logger.error({ timeoutMs: options.timeoutMs }, 'stop_timed_out');
        return false;
      }),
    ]);
    logger.info({ clean }, 'stopped');
    process.exit(clean ? 0 : 1);
  };
  for (const signal of signals) process.on(signal, stop);
}

async function runSteps({ steps, logger }: ShutdownOptions): Promise<boolean> {
  let clean = true;
  for (const step of steps) {
    try {
      await step.run();
    } catch (err) {
      clean = false;
      logger.error({ err, step: step.name }, 'stop_step_failed');
    }
  }
  return clean;
}
