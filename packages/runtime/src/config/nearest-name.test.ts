import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearestName } from './nearest-name.ts';

describe('nearestName', () => {
  const known = ['max_in_flight', 'max_queued', 'max_inflight_per_pod', 'port'];

  it('finds_a_misspelt_name_and_leaves_a_strange_one', () => {
    expect(nearestName('max_inflight', known)).toBe('max_in_flight');
    expect(nearestName('maxQueued', known)).toBe('max_queued');
    expect(nearestName('prot', known)).toBe('port');
    expect(nearestName('colour', known)).toBeNull();
  });

  it('finds_every_known_name_with_one_letter_left_out', () => {
    fc.assert(
      fc.property(fc.constantFrom(...known), fc.nat(), (name, at) => {
        const cut = at % name.length;
        expect(nearestName(name.slice(0, cut) + name.slice(cut + 1), known)).toBe(name);
      }),
    );
  });
});
