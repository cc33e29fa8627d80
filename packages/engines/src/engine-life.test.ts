import { PagefleetError, type PageResult } from '@pagefleet/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createEngineLife, type EngineCore } from './engine-life.ts';
import type { PageInput } from './port.ts';

const RESULT: PageResult = {
  text: 'read',
  markdown: 'read',
  confidence: 90,
  width: 1,
  height: 1,
  dpi: 200,
  rotation: 0,
  engine: 'test',
  engineMs: 0,
};

const page = (signal: AbortSignal = new AbortController().signal): PageInput => ({
  bytes: Buffer.from('x'),
  kind: 'png',
  options: {},
  signal,
});

function core(parts: Partial<EngineCore>): EngineCore {
  const idle = async (): Promise<void> => undefined;
  return { name: 'test', version: () => '1', open: idle, close: idle, read: async () => RESULT, ...parts };
}

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

describe('the life of an engine (R-041, law L16)', () => {
  test('at_most_one_engine_starts_whatever_the_interleaving', async () => {
    const step = fc.constantFrom('start', 'read', 'finish', 'fail');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        let opening = 0;
        let most = 0;
        let settle = (_ok: boolean): void => undefined;
        const engine = createEngineLife(
          core({
            open: () =>
              new Promise((resolve, reject) => {
                opening += 1;
                most = Math.max(most, opening);
                settle = (ok) => {
                  opening -= 1;
                  settle = () => undefined;
                  ok ? resolve() : reject(new Error('no'));
                };
              }),
          }),
          2,
        );
        for (const one of steps) {
          if (one === 'start') engine.start().catch(() => undefined);
          else if (one === 'read') engine.read(page()).catch(() => undefined);
          else settle(one === 'finish');
          await Promise.resolve();
        }
        settle(true);
        return most <= 1;
      }),
    );
  });

  test('a_read_during_the_start_waits_for_it_and_starts_nothing', async () => {
    let opened = 0;
    let finish = (): void => undefined;
    const open = () =>
      new Promise<void>((resolve) => {
        opened += 1;
        finish = resolve;
      });
    const engine = createEngineLife(core({ open }), 1);
    expect(engine.state()).toBe('starting');
    const starting = engine.start();
    const reading = engine.read(page());
    expect(engine.state()).toBe('starting');
    finish();
    await starting;
    expect((await reading).text).toBe('read');
    expect(opened).toBe(1);
    expect(engine.state()).toBe('ready');
  });

  test('a_read_before_any_start_is_refused_and_starts_nothing', async () => {
    await expect(createEngineLife(core({}), 1).read(page())).rejects.toMatchObject({
      code: 'engine_not_ready',
    });
  });

  test('a_failed_start_is_dead_until_it_is_started_again', async () => {
    let attempts = 0;
    const open = async (): Promise<void> => {
      attempts += 1;
      if (attempts === 1) throw new Error('no memory');
    };
    const engine = createEngineLife(core({ open }), 1);
    await expect(engine.start()).rejects.toThrow('no memory');
    expect(engine.state()).toBe('dead');
    await expect(engine.read(page())).rejects.toMatchObject({ code: 'engine_not_ready' });
    await engine.start();
    expect(engine.state()).toBe('ready');
  });

  test('a_full_engine_is_busy_and_reads_no_more_than_its_width_at_once', async () => {
    let running = 0;
    let most = 0;
    const releases: (() => void)[] = [];
    const read = async (): Promise<PageResult> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => releases.push(resolve));
      running -= 1;
      return RESULT;
    };
    const engine = createEngineLife(core({ read }), 2);
    await engine.start();
    const readings = [1, 2, 3, 4, 5].map(() => engine.read(page()));
    await new Promise((resolve) => setImmediate(resolve));
    expect(engine.state()).toBe('busy');
    for (let done = 0; done < 5; done += 1) {
      releases.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(readings);
    expect(most).toBe(2);
    expect(engine.state()).toBe('ready');
  });

  test('an_abort_is_told_by_its_own_reason', async () => {
    const engine = createEngineLife(core({ read: ({ signal }) => untilAborted(signal) }), 1);
    await engine.start();
    const deadline = new AbortController();
    const late = engine.read(page(deadline.signal));
    const hungUp = new AbortController();
    const waiting = engine.read(page(hungUp.signal));
    hungUp.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'client_gone' });
    deadline.abort(new PagefleetError('page_deadline', 'too late'));
    await expect(late).rejects.toMatchObject({ code: 'page_deadline' });
    expect(engine.state()).toBe('ready');
  });

  test('whatever_an_engine_throws_becomes_engine_failed_with_its_cause', async () => {
    const cause = new TypeError('bad');
    const engine = createEngineLife(core({ read: () => Promise.reject(cause) }), 1);
    await engine.start();
    await expect(engine.read(page())).rejects.toMatchObject({ code: 'engine_failed', cause });
  });

  test('closing_ends_what_reads_and_takes_nothing_new', async () => {
    let closed = false;
    const close = async (): Promise<void> => {
      closed = true;
    };
    const engine = createEngineLife(core({ read: ({ signal }) => untilAborted(signal), close }), 1);
    await engine.start();
    const reading = engine.read(page());
    reading.catch(() => undefined);
    await engine.close();
    await expect(reading).rejects.toMatchObject({ code: 'stopping' });
    await expect(engine.read(page())).rejects.toMatchObject({ code: 'stopping' });
    await expect(engine.start()).rejects.toMatchObject({ code: 'stopping' });
    expect(engine.state()).toBe('dead');
    expect(closed).toBe(true);
  });
});
