import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPageRegister, type PageRegister } from './page-register.ts';

const MINUTE_MS = 60_000;

function begin(register: PageRegister, id: string): { end: () => void; reasons: string[] } {
  const reasons: string[] = [];
  const begun = register.begin(id, (reason) => reasons.push(reason.code));
  if (begun.kind !== 'begun') throw new Error(`not begun: ${begun.kind}`);
  return { end: begun.end, reasons };
}

describe('page register (law L14)', () => {
  it('a_page_is_in_the_pod_only_once_at_a_time', () => {
    const register = createPageRegister(() => 0);
    const first = begin(register, 'a');
    expect(register.begin('a', () => undefined).kind).toBe('running');
    first.end();
    expect(register.begin('a', () => undefined).kind).toBe('begun');
  });

  it('a_cancel_answers_over_only_when_the_reading_is_over', async () => {
    const register = createPageRegister(() => 0);
    const page = begin(register, 'a');
    let answer: string | null = null;
    const cancelled = register.cancel('a').then((state) => {
      answer = state;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(page.reasons).toEqual(['client_gone']);
    expect(answer).toBeNull();
    page.end();
    await cancelled;
    expect(answer).toBe('over');
  });

  it('a_cancel_that_overtakes_its_page_still_ends_it', async () => {
    const register = createPageRegister(() => 0);
    expect(await register.cancel('a')).toBe('unknown');
    expect(register.begin('a', () => undefined).kind).toBe('ended');
    expect(await register.cancel('a')).toBe('over');
  });

  it('a_page_that_finished_a_moment_ago_is_over_and_not_unknown', async () => {
    let nowMs = 0;
    const register = createPageRegister(() => nowMs);
    begin(register, 'a').end();
    begin(register, 'b').end();
    nowMs = 14 * MINUTE_MS;
    expect(await register.cancel('a')).toBe('over');
    nowMs = 15 * MINUTE_MS;
    expect(await register.cancel('b')).toBe('unknown');
  });

  it('an_ended_page_is_remembered_as_long_as_a_slot_can_be_old_and_then_forgotten', async () => {
    let nowMs = 0;
    const register = createPageRegister(() => nowMs);
    await register.cancel('a');
    nowMs = 15 * MINUTE_MS - 1;
    expect(register.begin('a', () => undefined).kind).toBe('ended');
    nowMs = 15 * MINUTE_MS;
    expect(register.begin('a', () => undefined).kind).toBe('begun');
  });

  it('idle_waits_for_every_page', async () => {
    const register = createPageRegister(() => 0);
    const pages = [begin(register, 'a'), begin(register, 'b')];
    let idle = false;
    const waiting = register.idle().then(() => {
      idle = true;
    });
    pages[0]?.end();
    await new Promise((resolve) => setImmediate(resolve));
    expect(idle).toBe(false);
    pages[1]?.end();
    await waiting;
    expect(idle).toBe(true);
  });

  it('no_interleaving_lets_a_page_run_after_its_cancel_was_answered', async () => {
    const id = fc.constantFrom('a', 'b', 'c');
    const step = fc.oneof(
      fc.record({ kind: fc.constant('begin' as const), id }),
      fc.record({ kind: fc.constant('end' as const), id }),
      fc.record({ kind: fc.constant('cancel' as const), id }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const register = createPageRegister(() => 0);
        const running = new Map<string, () => void>();
        const answered = new Set<string>();
        for (const { kind, id } of steps) {
          if (kind === 'begin') {
            const begun = register.begin(id, () => undefined);
            if (begun.kind === 'begun') {
              expect(answered.has(id)).toBe(false);
              expect(running.has(id)).toBe(false);
              running.set(id, begun.end);
            }
          } else if (kind === 'end') {
            running.get(id)?.();
            running.delete(id);
          } else {
            void register.cancel(id).then(() => {
              answered.add(id);
              expect(running.has(id)).toBe(false);
            });
          }
          await new Promise((resolve) => setImmediate(resolve));
        }
      }),
      { numRuns: 100 },
    );
  });
});
