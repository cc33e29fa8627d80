import { expect, test } from 'vitest';
import { pageError } from './page-error.ts';

const UNSAID = { refusal: null, reason: null };
const refusal = { code: 'engine_failed', message: 'boom', param: null } as const;
const park = { kind: 'park', code: 'page_parked', clear: [] } as const;
const late = { kind: 'fail', code: 'page_deadline' } as const;

test.each(['page', 'chat'] as const)('what_is_told_of_a_%s_speaks_of_it', (what) => {
  const told = [
    pageError(park, { attempts: [], what }, { refusal, reason: null }),
    pageError(park, { attempts: [], what }, UNSAID),
    pageError(late, { attempts: [], what }, UNSAID),
  ].map(({ message }) => message);
  expect(told[0]).toContain('the last one said: boom');
  for (const message of told) {
    expect(message).toMatch(what === 'page' ? /page/ : /request/);
    if (what === 'chat') expect(message).not.toContain('page');
  }
});
