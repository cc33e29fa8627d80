import type { ServerExit } from './launch-server.ts';
import type { ServerClock } from './server-clock.ts';
import type { ServerConnection } from './server-connection.ts';
import { type ServerEvent, type ServerRules, type ServerState, STARTING } from './server-state.ts';

/** The state of one model server, kept up to date by probes and by its exit. */
export interface ServerLife {
  state(): ServerState;
  /** Resolves when the server is dead. */
  readonly dead: Promise<void>;
  /** It answers and has read a page: probing begins. */
  pageRead(): void;
  trialFailed(): void;
  startTimeOver(): void;
  stop(): void;
}

export interface ServerLifeOptions {
  readonly exited: Promise<ServerExit>;
  readonly probe: ServerConnection['probe'];
  readonly everyMs: number;
  readonly onChange: (state: ServerState) => void;
  readonly clock: ServerClock;
  readonly rules: ServerRules;
}

export function watchServer(options: ServerLifeOptions): ServerLife {
  const { exited, probe, everyMs, onChange, clock, rules } = options;
  const stopping = new AbortController();
  const death = Promise.withResolvers<void>();
  let state: ServerState = STARTING;

  function take(event: ServerEvent): void {
    const before = state;
    state = rules.next(state, event);
    if (state.at === before.at) return;
    onChange(state);
    if (state.at === 'dead') death.resolve();
  }

  /** One probe at a time, however long it takes. */
  async function watch(): Promise<void> {
    while (!stopping.signal.aborted && state.at !== 'dead') {
      const startedMs = clock.nowMs();
      const answer = await probe(rules.probeTimeoutMs(state));
      take({ kind: 'probed', answer, tookMs: clock.nowMs() - startedMs });
      await clock.sleep(everyMs, stopping.signal).catch(() => undefined);
    }
  }

  void exited.then(({ how }) => take({ kind: 'exited', how }));
  return {
    state: () => state,
    dead: death.promise,
    pageRead() {
      take({ kind: 'page_read' });
      void watch();
    },
    trialFailed: () => take({ kind: 'trial_failed' }),
    startTimeOver: () => take({ kind: 'start_time_over' }),
    stop: () => stopping.abort(),
  };
}
