import { describe, expect, test } from 'vitest';
import { createRefusedPages } from './refused-pages.ts';

describe('demand that did not get in', () => {
  test('a_page_that_returns_after_its_pause_counts_once', () => {
    const refused = createRefusedPages();
    for (let n = 0; n < 5; n += 1) refused.refuse('a', n * 2_000);
    expect(refused.count(10_000)).toBe(1);
  });

  test('equal_pages_that_come_together_are_several', () => {
    const refused = createRefusedPages();
    for (let n = 0; n < 5; n += 1) refused.refuse('a', 100 * n);
    expect(refused.count(500)).toBe(5);
    for (let n = 0; n < 5; n += 1) refused.refuse('a', 3_000 + 100 * n);
    expect(refused.count(4_000)).toBe(5);
  });

  test('a_page_that_gets_in_is_refused_no_longer', () => {
    const refused = createRefusedPages();
    refused.refuse('a', 0);
    refused.admit('a', 2_000);
    expect(refused.count(2_000)).toBe(0);
  });

  test('a_minute_later_it_is_forgotten', () => {
    const refused = createRefusedPages();
    refused.refuse('a', 0);
    expect(refused.count(59_999)).toBe(1);
    expect(refused.count(60_000)).toBe(0);
  });
});
