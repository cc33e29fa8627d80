import type { Report, Roster, RosterWorker } from '@pagefleet/contract';
import { describe, expect, test } from 'vitest';
import { type HandOverState, learnReport, learnRoster, openHandOver } from './hand-over-state.ts';
import { type HandOverPod, type PlannedSlice, planSlices } from './plan-slices.ts';

const EPOCH = 5;
const pod: HandOverPod = { id: 'p', pool: 'ocr', width: 4, usable: true };

interface Said {
  readonly epoch?: number;
  readonly ack?: number;
  readonly held?: Record<string, number>;
  readonly inflight?: Record<string, number>;
  readonly waiting?: number;
}

/** A controller with its state, told things one after the other. */
class Controller {
  state: HandOverState;
  nowMs = 0;
  #seq = 0;

  constructor(groups: readonly string[] = ['workers']) {
    this.state = openHandOver(EPOCH, groups);
  }

  roster(
    workers: Record<string, RosterWorker['state']>,
    group = 'workers',
    primaryId = 'primary',
    seq = this.#seq + 1,
  ): void {
    this.#seq += 1;
    const rows = Object.entries(workers).map(([bootId, state]) => ({
      bootId,
      state,
      worker: 0,
      pid: 1,
      port: 1,
      sinceMs: 0,
    }));
    const roster: Roster = { v: 1, group, primaryId, seq, atMs: this.nowMs, workers: rows };
    this.state = learnRoster(this.state, roster, this.nowMs);
  }

  report(bootId: string, said: Said = {}): void {
    this.#seq += 1;
    this.hear(bootId, said, this.#seq);
  }

  hear(bootId: string, said: Said, seq: number): void {
    const inflight = Object.values(said.inflight ?? {}).reduce((a, b) => a + b, 0);
    const row = { used: 0, good: 0, lastGoodMs: 0, oldestSlotMs: 0, pagesPerSecond: 0 };
    const report: Report = {
      v: 1,
      bootId,
      worker: 0,
      epoch: said.epoch ?? EPOCH,
      ack: said.ack ?? this.rev(bootId),
      seq,
      atMs: this.nowMs,
      held: said.held ?? {},
      pods: Object.fromEntries(
        Object.entries(said.inflight ?? {}).map(([id, n]) => [id, { ...row, inflight: n }]),
      ),
      pools: {
        ocr: {
          inflight,
          waiting: said.waiting ?? 0,
          unsplit: 0,
          refused: 0,
          oldestWaitMs: said.waiting ?? 0,
        },
      },
      totals: {
        ...{ pagesOk: 0, pagesFailed: 0, pagesRefused: 0, pagesRetried: 0 },
        ...{ bytesInMemory: 0, bytesSpooled: 0, loopDelayP99Ms: 0, rssBytes: 0 },
      },
    };
    this.state = learnReport(this.state, report, this.nowMs);
  }

  rev(bootId: string): number {
    return this.state.workers.get(bootId)?.written?.rev ?? 0;
  }

  pass(
    pods: readonly HandOverPod[] = [pod],
    rewrite: ReadonlySet<string> = new Set(),
  ): Record<string, Record<string, number>> {
    const planned = planSlices({ state: this.state, pods, nowMs: this.nowMs, rewrite });
    this.state = planned.state;
    return Object.fromEntries(
      planned.slices.map(({ bootId, widths }: PlannedSlice) => [bootId, Object.fromEntries(widths)]),
    );
  }
}

/** two workers that listen; a holds the whole pod, b nothing; both have answered */
function twoWorkers(): Controller {
  const controller = new Controller();
  controller.roster({ a: 'listening', b: 'listening' });
  controller.report('a', { held: { p: 4 }, inflight: { p: 3 }, ack: 0 });
  controller.report('b', { ack: 0 });
  return controller;
}

describe('hand-over of width (DESIGN 6, L9, L10)', () => {
  test('the_first_slice_of_an_epoch_repeats_what_was_held_as_soon_as_that_is_known', () => {
    const controller = new Controller();
    controller.roster({ a: 'listening' });
    expect(controller.pass()).toEqual({});
    controller.report('a', { epoch: EPOCH - 1, ack: 9, held: { p: 2, gone: 3 }, waiting: 9 });
    expect(controller.pass()).toEqual({ a: { p: 2 } });
    expect(controller.pass(), 'once is enough').toEqual({});
  });

  test('nobody_grows_while_one_worker_has_not_answered_in_this_epoch', () => {
    const controller = new Controller();
    controller.roster({ a: 'listening', b: 'listening' });
    controller.report('a', { held: { p: 1 }, ack: 0, waiting: 9 });
    controller.report('b', { epoch: EPOCH - 1, held: {} });
    expect(controller.pass()).toEqual({ b: {} });
    controller.report('b');
    expect(controller.pass()).toEqual({ a: { p: 4 } });
  });

  test('nobody_grows_before_every_group_of_workers_has_been_heard_of', () => {
    const controller = new Controller(['workers', 'backup']);
    controller.roster({ a: 'listening' });
    controller.report('a', { ack: 0, waiting: 9 });
    expect(controller.pass()).toEqual({});
    controller.roster({}, 'backup');
    expect(controller.pass()).toEqual({ a: { p: 4 } });
  });

  test('width_given_up_is_granted_only_after_the_giver_acknowledged_and_its_pages_are_over', () => {
    const controller = twoWorkers();
    controller.report('b', { ack: 0, waiting: 9 });
    expect(controller.pass()).toEqual({ a: { p: 2 } });
    controller.report('a', { held: { p: 2 }, inflight: { p: 3 } });
    expect(controller.pass(), 'three still run').toEqual({ b: { p: 1 } });
    controller.report('b', { held: { p: 1 }, inflight: { p: 1 }, waiting: 8 });
    expect(controller.pass()).toEqual({});
    controller.report('a', { held: { p: 2 }, inflight: { p: 2 } });
    expect(controller.pass()).toEqual({ b: { p: 2 } });
  });

  test('a_shrink_that_is_not_acknowledged_leaves_the_old_width_reserved', () => {
    const controller = twoWorkers();
    controller.report('a', { held: { p: 4 }, ack: 0 });
    controller.report('b', { ack: 0, waiting: 9 });
    expect(controller.pass()).toEqual({ a: {} });
    controller.report('a', { ack: 0, held: { p: 4 } });
    expect(controller.pass(), 'an older acknowledgement is none').toEqual({});
    controller.report('a', { epoch: EPOCH - 1, held: {} });
    expect(controller.pass(), 'a report of another epoch is none').toEqual({});
    controller.report('a', { held: {} });
    expect(controller.pass()).toEqual({ b: { p: 4 } });
  });

  test('a_report_that_comes_out_of_order_changes_nothing', () => {
    const controller = twoWorkers();
    const { state } = controller;
    controller.hear('a', { held: {}, ack: 0 }, 0);
    expect(controller.state).toBe(state);
  });

  test('silence_frees_nothing_and_the_roster_that_says_exited_frees_everything', () => {
    const controller = twoWorkers();
    controller.nowMs = 600_000;
    controller.roster({ a: 'leaving', b: 'listening' });
    controller.report('b', { ack: 0, waiting: 9 });
    expect(controller.pass()).toEqual({});
    controller.roster({ a: 'exited', b: 'listening' });
    expect(controller.pass()).toEqual({ b: { p: 4 } });
  });

  test('a_worker_that_no_roster_lists_is_given_up_after_15_minutes_of_silence_only', () => {
    const controller = twoWorkers();
    controller.roster({ b: 'listening' });
    controller.nowMs = 900_000;
    controller.report('b', { ack: 0, waiting: 9 });
    expect(controller.pass()).toEqual({});
    controller.nowMs = 900_001;
    controller.report('b', { ack: 0, waiting: 9 });
    expect(controller.pass()).toEqual({ b: { p: 4 } });
  });

  test('a_worker_forked_in_this_epoch_holds_nothing_and_holds_nobody_up', () => {
    const controller = twoWorkers();
    controller.report('a', { held: { p: 2 }, inflight: { p: 2 }, waiting: 9, ack: 0 });
    controller.roster({ a: 'listening', b: 'listening', c: 'starting' });
    expect(controller.pass()).toEqual({ a: { p: 4 } });
  });

  test('a_worker_known_from_the_first_roster_of_another_primary_is_newborn_too', () => {
    const controller = twoWorkers();
    controller.roster({ a: 'orphan', b: 'orphan', c: 'starting' }, 'workers', 'successor');
    expect(controller.state.workers.get('c')?.newborn).toBe(true);
    expect(controller.state.workers.get('a')?.newborn).toBe(false);
  });

  test('a_worker_that_leaves_gets_width_for_its_own_pages_only', () => {
    const controller = twoWorkers();
    controller.roster({ a: 'leaving', b: 'listening' });
    expect(controller.pass()).toEqual({ a: { p: 3 } });
  });

  test('the_backup_gets_idle_width_only_when_every_worker_is_gone', () => {
    const controller = new Controller(['workers', 'backup']);
    controller.roster({ a: 'listening' });
    controller.roster({ z: 'listening' }, 'backup');
    controller.report('a', { ack: 0 });
    controller.report('z', { ack: 0 });
    expect(controller.pass()).toEqual({ a: { p: 4 } });
    controller.roster({ a: 'exited' });
    expect(controller.pass()).toEqual({ z: { p: 4 } });
  });

  test('a_pod_set_aside_loses_its_width_at_once_also_with_workers_that_are_silent', () => {
    const controller = twoWorkers();
    controller.nowMs = 5_000;
    expect(controller.pass([{ ...pod, usable: false }])).toEqual({ a: {} });
  });

  test('a_pod_set_aside_is_given_to_nobody', () => {
    const controller = twoWorkers();
    controller.report('b', { ack: 0, waiting: 9 });
    expect(controller.pass([{ ...pod, usable: false }])).toEqual({ a: {} });
    controller.report('a', { held: {} });
    expect(controller.pass([{ ...pod, usable: false }])).toEqual({});
  });

  test('what_one_pass_grants_to_one_worker_it_does_not_grant_to_another', () => {
    const controller = new Controller();
    controller.roster({ a: 'listening', b: 'listening', c: 'listening' });
    controller.report('a', { held: { p: 4 }, inflight: { p: 4 }, ack: 0 });
    controller.report('b', { waiting: 9, ack: 0 });
    controller.report('c', { waiting: 8, ack: 0 });
    expect(controller.pass([{ ...pod, width: 5 }])).toEqual({ a: { p: 2 }, b: { p: 1 } });
  });

  test('a_roster_that_comes_out_of_order_changes_nothing', () => {
    const controller = twoWorkers();
    controller.roster({ a: 'leaving', b: 'listening' });
    const { state } = controller;
    controller.roster({ a: 'listening', b: 'listening' }, 'workers', 'primary', 1);
    expect(controller.state).toBe(state);
  });

  test('a_stale_worker_is_never_idle_its_width_is_not_lent', () => {
    const controller = twoWorkers();
    controller.nowMs = 2_001;
    controller.report('b', { ack: 0, waiting: 9 });
    expect(controller.pass()).toEqual({});
  });

  test('what_the_worker_really_holds_counts_when_it_cut_the_first_slice_down', () => {
    const controller = new Controller();
    controller.roster({ a: 'listening' });
    controller.report('a', { epoch: EPOCH - 1, held: { p: 3 } });
    controller.pass();
    controller.report('a', { held: { p: 1 } });
    expect(controller.pass()).toEqual({ a: { p: 4 } });
  });

  test('a_slice_is_written_again_when_something_else_in_it_changed', () => {
    const controller = twoWorkers();
    const before = controller.rev('a');
    controller.report('a', { held: { p: 2 }, inflight: { p: 2 }, ack: 0 });
    controller.report('b', { held: { p: 2 }, inflight: { p: 2 }, ack: 0 });
    expect(controller.pass([pod], new Set(['a']))).toEqual({ a: { p: 2 } });
    expect(controller.rev('a')).toBeGreaterThan(before);
  });

  test('a_controller_that_hears_of_a_higher_epoch_writes_nothing_more', () => {
    const controller = twoWorkers();
    controller.report('b', { epoch: EPOCH + 1, waiting: 9 });
    expect(controller.pass([{ ...pod, usable: false }])).toEqual({});
    expect(controller.state.superseded).toBe(true);
  });
});
