import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openPod } from './open-pod.ts';
import type { RentAction } from './plan.ts';
import type { Pod } from './pod-state.ts';
import { type PodEvent, transition } from './pod-transition.ts';
import { booting, refusing, serving, T0, terminating, unreachable } from './world-kit.ts';

const EVENTS: PodEvent[] = [
  { kind: 'created', id: 'id-a', url: null, priceUsdPerHour: null },
  { kind: 'created', id: 'id-other', url: null, priceUsdPerHour: null },
  { kind: 'create-refused', fault: 'account' },
  { kind: 'not-sent' },
  { kind: 'calling' },
  { kind: 'answer-lost' },
  { kind: 'looked' },
  { kind: 'seen', atMs: T0, url: 'http://x:1', priceUsdPerHour: 1 },
  { kind: 'probe-asked', purpose: 'check', nextProbeMs: T0 + 1 },
  { kind: 'probe-void' },
  { kind: 'boot-excused', deadlineMs: T0 + 1 },
  { kind: 'ready' },
  {
    ...{ kind: 'suspected', reason: 'unreachable', detail: '', answered: {} },
    ...{ owesTrialMs: null, nextProbeMs: T0 + 1 },
  },
  { kind: 'suspected', reason: 'refusing', detail: '', answered: {}, backoffMs: 1 },
  { kind: 'probe-failed', strike: true, detail: '' },
  { kind: 'trial-failed', detail: '', backoffMs: 1 },
  { kind: 'restored', answered: {} },
  { kind: 'drain', why: 'idle', deadlineMs: T0 + 1 },
  { kind: 'end', why: 'idle' },
  { kind: 'end-accepted', atMs: T0 },
  { kind: 'asked-again' },
  { kind: 'gone', why: 'gone' },
];
const NEXT: Record<Pod['state'], Pod['state'][]> = {
  renting: ['renting', 'booting', 'terminated'],
  booting: ['booting', 'serving', 'terminating', 'terminated'],
  serving: ['serving', 'quarantined', 'draining', 'terminating', 'terminated'],
  quarantined: ['quarantined', 'serving', 'draining', 'terminating', 'terminated'],
  draining: ['draining', 'terminating', 'terminated'],
  terminating: ['terminating', 'terminated'],
  terminated: [],
};
const STARTS = [booting('a'), serving('a'), unreachable('a'), refusing('a'), terminating('a')];

describe('pod states', () => {
  test('move_along_the_drawn_arrows_only_and_never_change_who_the_pod_is', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...STARTS),
        fc.array(fc.constantFrom(...EVENTS), { maxLength: 12 }),
        (start, events) => {
          let pod: Pod = start;
          for (const event of events) {
            const result = transition(pod, event, T0);
            if (!result.legal) continue;
            expect(NEXT[pod.state]).toContain(result.pod.state);
            expect(result.pod).toMatchObject({
              key: 'a',
              id: 'id-a',
              pool: 'ocr',
              createdAtMs: start.createdAtMs,
              revision: pod.revision + 1,
            });
            pod = result.pod;
          }
        },
      ),
    );
  });

  test('an_illegal_event_is_an_answer_and_changes_nothing', () => {
    expect(transition(terminating('a'), { kind: 'ready' }, T0)).toEqual({
      legal: false,
      from: 'terminating',
      event: 'ready',
    });
  });

  test('a_second_id_for_one_rent_is_illegal', () => {
    const second: PodEvent = { kind: 'created', id: 'id-other', url: null, priceUsdPerHour: null };
    expect(transition(booting('a'), second, T0).legal).toBe(false);
  });

  test('a_pod_costs_from_its_creation_by_the_provider_within_the_time_of_our_call (R-051)', () => {
    const action = { kind: 'rent', pool: 'ocr', width: 8, configHash: 'h', bootDeadlineMs: 9 } as const;
    const rent: RentAction = { ...action, offer: null, priceUsdPerHour: 1, reason: 'a test' };
    const renting = openPod(rent, { key: 'a', name: 'a' }, T0);
    const createdAt = (createdAtMs: number) => {
      const created: PodEvent = { kind: 'created', id: 'id-a', url: null, priceUsdPerHour: 1, createdAtMs };
      const result = transition(renting, created, T0 + 5_000);
      return result.legal ? result.pod.createdAtMs - T0 : null;
    };
    expect([createdAt(T0 + 2_000), createdAt(T0 - 60_000), createdAt(T0 + 60_000)]).toEqual([
      2_000, 0, 5_000,
    ]);
  });

  test('hold_nothing_of_the_state_before', () => {
    const set = transition(unreachable('a', { strikes: 2 }), { kind: 'restored', answered: { w1: 4 } }, T0);
    expect(set).toMatchObject({ legal: true, pod: { state: 'serving', answered: { w1: 4 } } });
    expect(Object.keys(set.legal ? set.pod : {})).not.toContain('strikes');
  });
});
