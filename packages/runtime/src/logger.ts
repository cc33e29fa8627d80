import pino from 'pino';
import { LogOutput, logOutputOf } from './log-output.ts';
import { redact } from './redact.ts';

export type Logger = pino.Logger;

export interface LoggerOptions {
  readonly component: string;
  readonly level: string;
  readonly bindings?: Record<string, unknown>;
  /** descriptor or stream; standard output if left out */
  readonly destination?: number | pino.DestinationStream;
  /** takes the lines when nobody reads the destination any more */
  readonly successorFile?: string;
}

/**
 * One JSON line per event, the event's name in `event`: `log.info({pod: id}, 'pod_serving')`. Written in the background:
 * a full pipe must not hold up the loop.
 */
export function createLogger(options: LoggerOptions): Logger {
  const { destination = 1, successorFile } = options;
  const stream = typeof destination === 'number' ? logOutputOf(destination) : destination;
  if (stream instanceof LogOutput && successorFile !== undefined) stream.succeededBy(successorFile);
  const logger = pino(
    {
      level: options.level,
      base: { component: options.component, pid: process.pid, ...options.bindings },
      messageKey: 'event',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (level) => ({ level }),
        log: (record) => redact(record) as Record<string, unknown>,
        bindings: (bindings) => redact(bindings) as Record<string, unknown>,
      },
      // `redact` has already made plain objects of errors; pino's own serializer would call them all "Object".
      serializers: { err: (error) => error },
    },
    stream,
  );
  return withRedactedChildren(logger);
}

/** Pino applies `formatters.bindings` to the first logger only; its children inherit this `child` instead. */
function withRedactedChildren(logger: Logger): Logger {
  const { child } = logger;
  const redactedChild = function (this: Logger, bindings: pino.Bindings, options?: pino.ChildLoggerOptions) {
    return Reflect.apply(child, this, [redact(bindings), options]);
  };
  return Object.assign(logger, { child: redactedChild });
}
