import { banMs, parseRateWindows, toldWaitsMs, untoldWaitMs } from '@pagefleet/core';
import type { Logger } from '@pagefleet/runtime';
import type { ApiName, Clock, Send } from './api-call.ts';
import type { ApiMeters } from './api-meters.ts';

export interface SendOptions {
  readonly api: ApiName;
  readonly apiKey: string;
  readonly meters: ApiMeters;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** One API of the account. What is withheld by a ban is logged, but neither sent nor counted. */
export function composeSend(raw: Send, options: SendOptions): Send {
  return withLog(withBan(withBudget(withAuth(raw, options), options), options), options);
}

function withAuth(send: Send, { apiKey }: SendOptions): Send {
  // The header, never the query: an address ends up in logs.
  return (call) => send({ ...call, headers: { ...call.headers, authorization: `Bearer ${apiKey}` } });
}

/**
 * Counted before it is sent: the API counts it too, whatever becomes of it. Another call may have met a ban while this one
 * was being counted.
 */
function withBudget(send: Send, { api, meters }: SendOptions): Send {
  return async (call) => {
    await meters.count(api, call.operation);
    const untilMs = meters.bannedUntilMs(api);
    return untilMs === null ? send(call) : { kind: 'withheld', untilMs };
  };
}

function withBan(send: Send, { api, meters, logger, clock }: SendOptions): Send {
  return async (call) => {
    await meters.refresh();
    const untilMs = meters.bannedUntilMs(api);
    if (untilMs !== null) return { kind: 'withheld', untilMs };
    const answer = await send(call);
    if (answer.kind !== 'answered') return answer;
    const { header, body, status } = answer;
    const windows = parseRateWindows(header);
    meters.note(api, windows);
    if (status === 429) {
      const nowMs = clock.nowMs();
      const waitMs = banMs(toldWaitsMs({ header, body }), untoldWaitMs(windows, nowMs));
      logger.warn({ api, operation: call.operation, waitMs }, 'runpod_banned');
      await meters.ban(api, nowMs + waitMs);
    }
    return answer;
  };
}

/** Neither the key nor a body: requests hold tokens and listings hold environments. */
function withLog(send: Send, { api, logger, clock }: SendOptions): Send {
  return async (call) => {
    const startMs = clock.nowMs();
    const answer = await send(call);
    const about = { api, operation: call.operation, ms: Math.round(clock.nowMs() - startMs) };
    if (answer.kind === 'answered') {
      const level = answer.status < 400 ? 'debug' : 'warn';
      logger[level]({ ...about, status: answer.status }, 'runpod_answered');
    } else if (answer.kind === 'withheld') {
      logger.debug({ ...about, untilMs: answer.untilMs }, 'runpod_call_withheld');
    } else {
      logger.warn(
        { ...about, err: answer.cause },
        answer.kind === 'lost' ? 'runpod_answer_lost' : 'runpod_not_reached',
      );
    }
    return answer;
  };
}
