import { describe, expect, it } from 'vitest';
import { CREATING_MS, decidePodLife, type PodFacts } from './decide-pod-life.ts';

const facts = (changes: Partial<PodFacts>): PodFacts => ({
  process: 'alive',
  ended: false,
  ageMs: 1,
  ...changes,
});

describe('life of a local pod', () => {
  it('a_pod_whose_process_runs_exists_also_when_it_was_asked_to_end', () => {
    expect(decidePodLife(facts({}))).toBe('running');
    expect(decidePodLife(facts({ ended: true, ageMs: CREATING_MS * 9 }))).toBe('ending');
  });

  it('a_pod_whose_process_is_gone_is_gone_whatever_its_age', () => {
    expect(decidePodLife(facts({ process: 'gone' }))).toBe('gone');
    expect(decidePodLife(facts({ process: 'gone', ended: true }))).toBe('gone');
  });

  it('a_pod_without_a_known_process_exists_while_it_is_young', () => {
    expect(decidePodLife(facts({ process: 'unknown', ageMs: CREATING_MS - 1 }))).toBe('creating');
    expect(decidePodLife(facts({ process: 'unknown', ageMs: CREATING_MS }))).toBe('forsaken');
    expect(decidePodLife(facts({ process: 'unknown', ageMs: -1 }))).toBe('forsaken');
  });

  it('an_exit_mark_ends_a_pod_without_a_known_process_at_once', () => {
    expect(decidePodLife(facts({ process: 'unknown', ended: true }))).toBe('gone');
  });
});
