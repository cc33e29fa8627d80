import type { EndReason, Plan, PlannedTransition } from '@pagefleet/core';
import { describe, expect, test } from 'vitest';
import { T0 } from '../test-kit/pods.ts';
import { quietLogger } from '../test-kit/quiet-logger.ts';
import { PassNotes } from './pass-notes.ts';

function plan(...transitions: Partial<PlannedTransition>[]): Plan {
  const nothing = { actions: [], adoptions: [], forget: ['a'], pools: [], alarms: [] };
  return { ...nothing, nowMs: T0, transitions } as unknown as Plan;
}

function end(why: EndReason, reason: string): Partial<PlannedTransition> {
  return {
    podKey: 'a',
    pool: 'ocr',
    from: 'booting',
    to: 'terminating',
    event: { kind: 'end', why },
    reason,
  };
}

describe('what passes leave behind', () => {
  test('why_a_boot_failed_is_an_alarm_that_outlives_the_pod_until_another_comes_up (R-038)', () => {
    const notes = new PassNotes(quietLogger().logger);
    notes.take(plan(end('boot-failed', 'pod a cannot start: language xyz is not installed')), true);
    notes.take(plan(end('stopping', 'the cluster stops')), true);
    expect(notes.alarms.all()).toMatchObject([
      {
        code: 'boot',
        message: 'the last boot of pool "ocr" failed: pod a cannot start: language xyz is not installed',
      },
    ]);
    notes.take(
      plan({ podKey: 'b', pool: 'ocr', from: 'booting', to: 'serving', event: { kind: 'ready' } }),
      true,
    );
    expect(notes.alarms.all()).toEqual([]);
  });
});
