import { Counter, Histogram, type Registry } from 'prom-client';

type TokenKind = 'prompt' | 'completion';

/** What goes to model servers: chat requests, and the requests by which pages are read. */
export interface ModelMetrics {
  chatDone(pool: string, outcome: string): void;
  chatSeconds(pool: string, seconds: number): void;
  /** tokens of a chat request, as the model server counted them */
  chatTokens(pool: string, tokens: Readonly<Record<TokenKind, number>>): void;
  /** Requests by which pages are read, on this worker or in a pod that told of them. */
  readingAsked(pool: string, count: number): void;
  /** A reply was not taken; `tokens` were generated for it, null = not known. */
  readingRejected(pool: string, reason: string, tokens: number | null): void;
}

const SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 900];

export function createModelMetrics(registers: Registry[]): ModelMetrics {
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> =>
    new Counter({ name, help, labelNames, registers });
  const chats = counter(
    'pagefleet_chat_total',
    'Chat, completion and embedding requests by outcome; the code of a failure, or ok',
    ['pool', 'outcome'],
  );
  const seconds = new Histogram({
    name: 'pagefleet_chat_seconds',
    help: 'Time on the pod of chat requests that were answered',
    labelNames: ['pool'],
    buckets: SECONDS,
    registers,
  });
  const tokens = counter(
    'pagefleet_chat_tokens_total',
    'Tokens of chat requests, where the model server said how many',
    ['pool', 'kind'],
  );
  const asked = counter(
    'pagefleet_readings_asked_total',
    'Requests to model servers by which pages are read, wherever that is',
    ['pool'],
  );
  const rejected = counter(
    'pagefleet_readings_rejected_total',
    'Replies not taken; looped = abandoned while it came (R-071)',
    ['pool', 'reason'],
  );
  const rejectedTokens = counter(
    'pagefleet_readings_rejected_tokens_total',
    'Tokens generated for replies not taken, as far as known',
    ['pool', 'reason'],
  );
  return {
    chatDone: (pool, outcome) => chats.inc({ pool, outcome }),
    chatSeconds: (pool, taken) => seconds.observe({ pool }, taken),
    chatTokens(pool, { prompt, completion }) {
      tokens.inc({ pool, kind: 'prompt' }, prompt);
      tokens.inc({ pool, kind: 'completion' }, completion);
    },
    readingAsked: (pool, count) => asked.inc({ pool }, count),
    readingRejected(pool, reason, count) {
      rejected.inc({ pool, reason });
      rejectedTokens.inc({ pool, reason }, count ?? 0);
    },
  };
}
