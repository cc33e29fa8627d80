import { PagefleetError } from '@pagefleet/contract';
import { describe, expect, it } from 'vitest';
import { parsePageHeaders } from './parse-page-headers.ts';

const good = { 'x-page-id': 'boot.7-doc_3.p1', 'x-owner': 'cluster-1' };
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function paramOf(headers: Record<string, string>): unknown {
  try {
    parsePageHeaders(headers);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof PagefleetError)) throw error;
    expect(error.code).toBe('bad_request');
    return error.details.param;
  }
}

describe('headers of a page', () => {
  it('a_page_without_a_deadline_gets_the_longest_one', () => {
    expect(parsePageHeaders(good)).toEqual({
      pageId: 'boot.7-doc_3.p1',
      owner: 'cluster-1',
      deadlineMs: 900_000,
      options: {},
    });
  });

  it('a_deadline_is_never_longer_than_a_slot_may_be_old', () => {
    const deadline = (text: string): number =>
      parsePageHeaders({ ...good, 'x-page-deadline-ms': text }).deadlineMs;
    expect(deadline('899999')).toBe(899_999);
    expect(deadline('900001')).toBe(900_000);
    expect(deadline('0')).toBe(0);
  });

  it('options_travel_as_base64url_json', () => {
    const options = { languages: ['fra', 'chi_sim'], words: true };
    expect(parsePageHeaders({ ...good, 'x-page-options': encode(options) }).options).toEqual(options);
  });

  it('a_malformed_header_is_named', () => {
    expect(paramOf({ 'x-owner': 'c' })).toBe('x-page-id');
    expect(paramOf({ ...good, 'x-page-id': '../a' })).toBe('x-page-id');
    expect(paramOf({ ...good, 'x-page-id': 'a'.repeat(121) })).toBe('x-page-id');
    expect(paramOf({ 'x-page-id': 'a' })).toBe('x-owner');
    expect(paramOf({ ...good, 'x-page-deadline-ms': '-1' })).toBe('x-page-deadline-ms');
    expect(paramOf({ ...good, 'x-page-deadline-ms': '1.5' })).toBe('x-page-deadline-ms');
    expect(paramOf({ ...good, 'x-page-options': 'not json' })).toBe('x-page-options');
    expect(paramOf({ ...good, 'x-page-options': encode({ word: true }) })).toBe('x-page-options');
    expect(paramOf({ ...good, 'x-page-options': encode({ languages: ['; rm'] }) })).toBe('x-page-options');
  });
});
