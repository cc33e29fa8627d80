import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stepMs } from './load-model.ts';

const speeds = fc
  .record({
    prefillTokensPerS: fc.integer({ min: 100, max: 1_000_000 }),
    tokensPerS: fc.integer({ min: 1, max: 500 }),
    gain: fc.double({ min: 1, max: 200, noNaN: true }),
  })
  .map(({ gain, ...speed }) => ({ ...speed, loadedTokensPerS: speed.tokensPerS * gain }));
const counts = fc.integer({ min: 1, max: 1_024 });

test('one sequence alone gets the speed it was promised', () => {
  fc.assert(
    fc.property(speeds, (speed) => {
      expect(1_000 / stepMs({ sequences: 1, prefillTokens: 0 }, speed)).toBeCloseTo(speed.tokensPerS, 6);
    }),
  );
});

test('more sequences make a step longer and the card faster, never faster than its bound', () => {
  fc.assert(
    fc.property(speeds, counts, counts, (speed, few, more) => {
      const short = stepMs({ sequences: few, prefillTokens: 0 }, speed);
      const long = stepMs({ sequences: few + more, prefillTokens: 0 }, speed);
      expect(long).toBeGreaterThanOrEqual(short);
      expect((few + more) / long).toBeGreaterThanOrEqual((few / short) * (1 - 1e-9));
      expect(((few + more) * 1_000) / long).toBeLessThanOrEqual(speed.loadedTokensPerS * (1 + 1e-9));
    }),
  );
});

test('prompts that are read beside slow the others by their tokens', () => {
  fc.assert(
    fc.property(speeds, counts, fc.integer({ min: 1, max: 20_000 }), (speed, sequences, prefillTokens) => {
      const more =
        stepMs({ sequences, prefillTokens }, speed) - stepMs({ sequences, prefillTokens: 0 }, speed);
      expect(more).toBeCloseTo((prefillTokens * 1_000) / speed.prefillTokensPerS, 6);
    }),
  );
});
