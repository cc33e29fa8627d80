import { nextServerState, SERVER_RULES } from '../../packages/engines/src/server/server-state.ts';
import { type DecideKeeping, decideKeeping, FIRST_REST_MS } from '../../packages/gateway/src/keeper-state.ts';
import type { EngineSabotage } from './engine-world.ts';

type NextServerState = typeof nextServerState;

/** Rules broken on purpose, one each, at the seams: what decides, what launches, what closes. */
export const BROKEN_ENGINE_RULES: Record<string, { law: string; sabotage: EngineSabotage }> = {
  'a dead one is not ended before the next one starts': {
    law: 'one engine',
    sabotage: {
      engine: (engine) => ({ ...engine, close: async () => void engine.close().catch(() => undefined) }),
    },
  },
  'a failed end counts as an end': {
    law: 'one engine',
    sabotage: keeping((state, event) =>
      decideKeeping(state, event.kind === 'close_failed' ? { kind: 'closed' } : event),
    ),
  },
  'two callers, two starts': {
    law: 'one engine',
    sabotage: {
      parts: (parts) => ({
        ...parts,
        launch: async () => {
          await parts.launch();
          return await parts.launch();
        },
      }),
    },
  },
  'what runs is known only once it is noted on disk': {
    law: 'one engine',
    sabotage: {
      parts: (parts) => ({
        ...parts,
        launch: async () => {
          const launched = await parts.launch();
          await parts.record.write(launched.process.pid);
          return launched;
        },
      }),
    },
  },
  'two missed probes are a death': {
    law: 'L16',
    sabotage: serving((state, event) => {
      const next = nextServerState(state, event);
      return next.at === 'busy' ? { at: 'dead', why: 'missed' } : next;
    }),
  },
  'one 503 is a death': {
    law: 'L16',
    sabotage: serving((state, event) =>
      event.kind === 'probed' && event.answer === 'broken' && state.at !== 'starting'
        ? { at: 'dead', why: 'broken' }
        : nextServerState(state, event),
    ),
  },
  'one that is doubted is not waited for': {
    law: 'L16',
    sabotage: serving((state, event) =>
      event.kind === 'probed' && event.answer === 'missed' && state.at !== 'starting'
        ? { at: 'dead', why: 'missed' }
        : nextServerState(state, event),
    ),
  },
  'one failed trial page is a failed start': {
    law: 'L16',
    sabotage: serving((state, event) =>
      event.kind === 'trial_failed' ? { at: 'dead', why: 'trial' } : nextServerState(state, event),
    ),
  },
  'a start has little time': {
    law: 'L16',
    sabotage: { parts: (parts) => ({ ...parts, startMs: 10_000 }) },
  },
  'ready without a page': {
    law: 'ready',
    sabotage: { parts: (parts) => ({ ...parts, tryPage: async () => undefined }) },
  },
  'an exit is not heard': {
    law: 'ready',
    sabotage: serving((state, event) => (event.kind === 'exited' ? state : nextServerState(state, event))),
  },
  'a start has no end': {
    law: 'left',
    sabotage: serving((state, event) =>
      event.kind === 'start_time_over' ? state : nextServerState(state, event),
    ),
  },
  'nothing after a death': {
    law: 'left',
    sabotage: keeping((state, event) =>
      event.kind === 'rested' && state.at === 'resting' ? { state, act: null } : decideKeeping(state, event),
    ),
  },
  'rests do not grow': {
    law: 'rest',
    sabotage: keeping((state, event) => {
      const { state: next, act } = decideKeeping(state, event);
      return { state: next, act: act?.kind === 'rest' ? { kind: 'rest', ms: FIRST_REST_MS } : act };
    }),
  },
  'rests grow for good': {
    law: 'rest',
    sabotage: keeping((state, event) => {
      const { state: next, act } = decideKeeping(state, event);
      return { state: { ...next, shortLives: Math.max(next.shortLives, state.shortLives) }, act };
    }),
  },
  'an old fault stays': {
    law: 'fault',
    sabotage: keeping((state, event) => {
      const { state: next, act } = decideKeeping(state, event);
      return { state: { ...next, fault: state.fault ?? next.fault }, act };
    }),
  },
  'a stopped one starts again': {
    law: 'stop',
    sabotage: keeping((state, event) => {
      const { state: next, act } = decideKeeping(state, event);
      return next.at === 'over' && state.at === 'closing'
        ? { state: { ...next, at: 'resting' }, act: { kind: 'rest', ms: FIRST_REST_MS } }
        : { state: next, act };
    }),
  },
  'a stop leaves what runs': {
    law: 'stop',
    sabotage: keeping((state, event) =>
      event.kind === 'stop'
        ? { state: { ...state, isStopping: true, at: 'over' }, act: null }
        : decideKeeping(state, event),
    ),
  },
  'readings go on when their page is ended': {
    law: 'pages',
    sabotage: {
      engine: (engine) => ({
        ...engine,
        read: (page) => {
          const { promise, resolve } = Promise.withResolvers<never>();
          engine.read(page).then(resolve as never, () => undefined);
          return promise;
        },
      }),
    },
  },
};

function keeping(decide: DecideKeeping): EngineSabotage {
  return { decide };
}

function serving(next: NextServerState): EngineSabotage {
  return { rules: { ...SERVER_RULES, next } };
}
