import { describe, expect, it } from 'vitest';
import { createOwnerMemory } from './owner-memory.ts';

describe('owner memory (R-044, one owner)', () => {
  it('another_owner_is_turned_away_until_the_first_was_silent_for_the_dead_man_time', () => {
    let nowMs = 0;
    const memory = createOwnerMemory('ours', 1_000, () => nowMs);
    nowMs = 999;
    expect(memory.hear('theirs')).toBe(false);
    expect(memory.hear('ours')).toBe(true);
    nowMs = 1_998;
    expect(memory.hear('theirs')).toBe(false);
    nowMs = 1_999;
    expect(memory.hear('theirs')).toBe(true);
    expect(memory.hear('ours')).toBe(false);
  });

  it('a_pod_that_nobody_ever_spoke_to_is_abandoned_after_the_dead_man_time', () => {
    let nowMs = 50;
    const memory = createOwnerMemory('ours', 1_000, () => nowMs);
    nowMs = 1_049;
    expect(memory.isAbandoned()).toBe(false);
    nowMs = 1_050;
    expect(memory.isAbandoned()).toBe(true);
  });

  it('a_probe_that_proves_the_token_keeps_the_pod_and_its_owner', () => {
    let nowMs = 0;
    const memory = createOwnerMemory('ours', 1_000, () => nowMs);
    nowMs = 900;
    memory.hearAgain();
    nowMs = 1_800;
    expect(memory.isAbandoned()).toBe(false);
    expect(memory.hear('theirs')).toBe(false);
  });

  it('a_refused_stranger_does_not_keep_the_pod_alive', () => {
    let nowMs = 0;
    const memory = createOwnerMemory('ours', 1_000, () => nowMs);
    nowMs = 900;
    memory.hear('theirs');
    nowMs = 1_000;
    expect(memory.isAbandoned()).toBe(true);
  });
});
