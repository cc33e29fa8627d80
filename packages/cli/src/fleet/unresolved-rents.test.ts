import type { ListedPod } from '@pagefleet/providers';
import { describe, expect, it } from 'vitest';
import { UnresolvedRents } from './unresolved-rents.ts';

const listed = (name: string) => ({ id: 'x', name }) as ListedPod;

describe('rents that the end of a cluster overtakes', () => {
  it('are_those_that_the_controller_told_last_and_the_account_does_not_show', () => {
    const rents = new UnresolvedRents();
    rents.hear({ type: 'progress', pods: [{ id: 'c-ocr-1', state: 'renting' }] });
    rents.hear({
      type: 'progress',
      pods: [
        { id: 'c-ocr-2', state: 'renting' },
        { id: 'c-ocr-3', state: 'renting' },
        { id: 'pod4', state: 'terminating' },
      ],
    });
    expect(rents.missingIn([listed('c-ocr-3')])).toEqual(['c-ocr-2']);
  });

  it('a_line_without_pods_changes_nothing_and_the_end_of_all_settles_it', () => {
    const rents = new UnresolvedRents();
    rents.hear({ type: 'kept', pods: [{ id: 'c-ocr-1', state: 'renting' }] });
    rents.hear({ type: 'failed' });
    expect(rents.missingIn([])).toEqual(['c-ocr-1']);
    rents.hear({ type: 'done' });
    expect(rents.missingIn([])).toEqual([]);
  });
});
