import { describe, expect, test } from 'vitest';
import { held, keyOf, servingPod } from '../test-kit/pods.ts';
import { foldJournal, type JournalEntry } from './entries.ts';

const pod = servingPod('a');
const entry: JournalEntry = { kind: 'pod', ...held(pod) };

describe('what a journal amounts to', () => {
  test('the_last_word_on_a_pod_counts_and_reading_twice_changes_nothing', () => {
    const later: JournalEntry = { kind: 'pod', ...held({ ...pod, revision: 9 }) };
    const once = foldJournal(null, [entry, later]);
    expect(once.state.pods).toEqual([held({ ...pod, revision: 9 })]);
    expect(foldJournal(once.state, [entry, later])).toEqual(once);
  });

  test('a_forgotten_pod_is_gone_and_an_epoch_never_falls', () => {
    const { state } = foldJournal(null, [
      entry,
      { kind: 'epoch', epoch: 7, controllerId: 'a', atMs: 0 },
      { kind: 'epoch', epoch: 3, controllerId: 'a', atMs: 0 },
      { kind: 'forget', podKey: keyOf('a') },
    ]);
    expect(state).toMatchObject({ epoch: 7, pods: [] });
  });

  test('what_one_pass_changed_is_read_in_order', () => {
    const batch: JournalEntry = { kind: 'batch', entries: [entry, { kind: 'forget', podKey: keyOf('a') }] };
    expect(foldJournal(null, [batch]).state.pods).toEqual([]);
  });

  test('entries_nobody_understands_are_left_out_and_counted', () => {
    const { state, unreadable } = foldJournal(null, [
      { kind: 'lease' },
      7,
      null,
      entry,
      { kind: 'pod', pod: {} },
    ]);
    expect(unreadable).toBe(4);
    expect(state.pods).toHaveLength(1);
  });
});
