import { describe, expect, test } from 'vitest';
import { makePdf } from './make-pdf.ts';
import { countPagesWithQpdf, repairWithQpdf } from './repair-with-qpdf.ts';

describe('the second reader where it is not installed', () => {
  test('its_absence_is_told_by_name', async () => {
    expect(await repairWithQpdf(makePdf({ pages: 1 }), 'no-such-qpdf')).toEqual({
      outcome: 'failed',
      reason: 'the second reader, the program qpdf, is not installed here',
    });
  });

  test('pages_it_cannot_count_are_unknown', async () => {
    expect(await countPagesWithQpdf(makePdf({ pages: 1 }), 'no-such-qpdf')).toBeNull();
  });
});
