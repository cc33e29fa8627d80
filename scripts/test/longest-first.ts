import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, in the order they start: one of them that began last would run on alone. */
const LONGEST = [
  'integration/engines/corpus-with-tesseract',
  'integration/engines/corpus-damaged',
  'integration/engines/corpus-with-tesseract-js',
  'integration/worker/replacement',
  'integration/controller/takeover',
  'chaos/rented',
  'chaos/kill-matrix',
  'chaos/engine',
];

/** Vitest's own order knows how long a file took only where it ran before; in a fresh checkout it goes by size. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const rank = LONGEST.findIndex((name) => moduleId.endsWith(`test/${name}.test.ts`));
      return rank === -1 ? LONGEST.length : rank;
    };
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
