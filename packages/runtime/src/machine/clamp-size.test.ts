import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clampSize } from './clamp-size.ts';

test('a_size_is_what_is_wanted_or_the_most_allowed_and_only_a_cut_is_said', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (wanted, most) => {
      const said: string[] = [];
      expect(clampSize({ name: 'backlog', wanted, most, by: 'the kernel' }, said)).toBe(
        Math.min(wanted, most),
      );
      expect(said).toEqual(wanted > most ? [`backlog ${wanted} → ${most} by the kernel`] : []);
    }),
  );
});
