import { type EngineState, PagefleetError, type PageResult } from '@pagefleet/contract';
import type { Engine } from '@pagefleet/engines';
import type { Logger } from '@pagefleet/runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEngineKeeper } from './engine-keeper.ts';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const silent = { info: () => undefined, error: () => undefined } as unknown as Logger;
const result = { text: 'read' } as PageResult;

/** Engines whose start, death and end are worked by hand; `alive` counts those that were started and not closed. */
function createWorkbench() {
  const engines: {
    state: EngineState;
    up(): void;
    fail(cause?: Error): void;
    closed(): void;
    failClose: boolean;
  }[] = [];
  const pauses: (() => void)[] = [];
  let alive = 0;
  let mostAlive = 0;

  function create(): Engine {
    const starting = Promise.withResolvers<void>();
    const closing = Promise.withResolvers<void>();
    const mine = {
      state: 'starting' as EngineState,
      failClose: false,
      up: () => {
        mine.state = 'ready';
        starting.resolve();
      },
      fail: (cause = new Error('no')) => {
        mine.state = 'dead';
        starting.reject(cause);
      },
      closed: () => closing.resolve(),
    };
    engines.push(mine);
    return {
      name: 'scripted',
      version: '1',
      start: () => {
        alive += 1;
        mostAlive = Math.max(mostAlive, alive);
        return starting.promise;
      },
      state: () => mine.state,
      read: async () => result,
      close: async () => {
        await closing.promise;
        if (mine.failClose) throw new Error('still there');
        alive -= 1;
      },
    };
  }

  function pause(_ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      pauses.push(resolve);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }

  const keeper = createEngineKeeper({ create, logger: silent, pause });
  return {
    keeper,
    engines,
    last: () => engines[engines.length - 1],
    wake: async () => {
      for (const resume of pauses.splice(0)) resume();
      await settle();
    },
    mostAlive: () => mostAlive,
  };
}

const never = new AbortController().signal;

const codeOf = (error: unknown): string => (error instanceof PagefleetError ? error.code : String(error));

describe('the engine of a pod (R-040, law L16)', () => {
  it('a_page_waits_for_the_engine_that_is_starting', async () => {
    const bench = createWorkbench();
    let waits = true;
    const reading = bench.keeper.ready(never).then(() => {
      waits = false;
    });
    await settle();
    expect([bench.keeper.state(), waits]).toEqual(['starting', true]);
    bench.last()?.up();
    await reading;
    expect(bench.keeper.state()).toBe('ready');
    expect(bench.engines).toHaveLength(1);
  });

  it('a_page_that_gives_up_does_not_wait_for_the_start', async () => {
    const bench = createWorkbench();
    const hangUp = new AbortController();
    const reading = bench.keeper.ready(hangUp.signal).catch(codeOf);
    hangUp.abort(new PagefleetError('page_deadline', 'late'));
    expect(await reading).toBe('page_deadline');
  });

  it('a_page_is_refused_at_once_while_the_engine_is_dead', async () => {
    const bench = createWorkbench();
    bench.last()?.fail();
    await settle();
    expect(bench.keeper.state()).toBe('dead');
    expect(await bench.keeper.ready(never).catch(codeOf)).toBe('engine_not_ready');
  });

  it('a_start_that_the_settings_forbid_is_told_until_one_succeeds', async () => {
    const bench = createWorkbench();
    const sayFault = async (cause?: Error): Promise<string | null> => {
      bench.last()?.fail(cause);
      bench.last()?.closed();
      await settle();
      return bench.keeper.fault();
    };
    expect(await sayFault()).toBeNull();
    await bench.wake();
    expect(await sayFault(new PagefleetError('config_invalid', 'no xyz'))).toBe('no xyz');
    await bench.wake();
    expect([bench.keeper.state(), bench.keeper.fault()]).toEqual(['starting', 'no xyz']);
    bench.last()?.up();
    await settle();
    expect(bench.keeper.fault()).toBeNull();
  });

  it('what_three_starts_in_a_row_ended_with_is_told_as_a_fault (R-040)', async () => {
    const bench = createWorkbench();
    const failed = new PagefleetError('engine_not_ready', 'the hub does not answer');
    const faults: (string | null)[] = [];
    for (let n = 0; n < 3; n += 1) {
      bench.last()?.fail(failed);
      bench.last()?.closed();
      await settle();
      faults.push(bench.keeper.fault());
      await bench.wake();
    }
    expect(faults).toEqual([null, null, 'the hub does not answer']);
    bench.last()?.up();
    await settle();
    expect(bench.keeper.fault()).toBeNull();
  });

  it('a_request_to_an_engine_without_a_model_server_is_not_found', async () => {
    const bench = createWorkbench();
    bench.last()?.up();
    const request = {
      path: '/v1/completions',
      contentType: '',
      body: Buffer.alloc(0),
      signal: never,
    } as const;
    expect(await bench.keeper.forward(request).catch(codeOf)).toBe('not_found');
  });

  it('a_page_that_waited_for_a_start_that_fails_is_refused', async () => {
    const bench = createWorkbench();
    const reading = bench.keeper.ready(never).catch(codeOf);
    bench.last()?.fail();
    expect(await reading).toBe('engine_not_ready');
  });

  it('a_dead_engine_is_closed_before_the_next_one_is_made', async () => {
    const bench = createWorkbench();
    bench.last()?.up();
    await settle();
    const first = bench.last();
    if (first) first.state = 'dead';
    await bench.wake();
    await bench.wake();
    expect(bench.engines).toHaveLength(1);
    first?.closed();
    await settle();
    await bench.wake();
    expect(bench.engines).toHaveLength(2);
    bench.last()?.up();
    await settle();
    expect(bench.keeper.state()).toBe('ready');
    expect(bench.mostAlive()).toBe(1);
  });

  it('an_engine_that_cannot_be_closed_gets_no_successor', async () => {
    const bench = createWorkbench();
    const first = bench.last();
    if (first) first.failClose = true;
    first?.fail();
    first?.closed();
    for (let n = 0; n < 4; n += 1) await bench.wake();
    expect(bench.engines).toHaveLength(1);
    if (first) first.failClose = false;
    for (let n = 0; n < 4; n += 1) await bench.wake();
    expect(bench.engines.length).toBeGreaterThan(1);
  });

  it('a_condemned_engine_counts_as_dead_whatever_it_says', async () => {
    const bench = createWorkbench();
    bench.last()?.up();
    await settle();
    const condemn = bench.keeper.condemner();
    condemn();
    expect(bench.keeper.state()).toBe('dead');
    bench.last()?.closed();
    for (let n = 0; n < 4; n += 1) await bench.wake();
    expect(bench.engines).toHaveLength(2);
    expect(bench.keeper.state()).toBe('starting');
    bench.last()?.up();
    await settle();
    // The reading that was stuck in the first one says so again.
    condemn();
    expect(bench.keeper.state()).toBe('ready');
  });

  it('closing_ends_the_engine_also_while_it_starts_and_makes_no_other', async () => {
    const bench = createWorkbench();
    const closed = bench.keeper.close();
    bench.last()?.closed();
    await closed;
    await bench.wake();
    expect(bench.engines).toHaveLength(1);
    expect(bench.keeper.state()).toBe('dead');
  });

  it('at_most_one_engine_is_alive_whatever_the_interleaving', async () => {
    const step = fc.constantFrom('up', 'fail', 'die', 'closed', 'wake', 'read', 'condemn', 'close');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const bench = createWorkbench();
        for (const kind of steps) {
          const last = bench.last();
          if (kind === 'up') last?.up();
          else if (kind === 'fail') last?.fail();
          else if (kind === 'die' && last) last.state = 'dead';
          else if (kind === 'closed') last?.closed();
          else if (kind === 'wake') await bench.wake();
          else if (kind === 'read') bench.keeper.ready(never).catch(() => undefined);
          else if (kind === 'condemn') bench.keeper.condemner()();
          else if (kind === 'close') void bench.keeper.close();
          await settle();
          expect(bench.mostAlive()).toBe(1);
        }
        void bench.keeper.close();
        for (const engine of bench.engines) engine.closed();
        await bench.wake();
        expect(bench.mostAlive()).toBe(1);
      }),
      { numRuns: 150 },
    );
  });
});
