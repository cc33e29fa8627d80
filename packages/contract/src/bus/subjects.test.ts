import { expect, test } from 'vitest';
import { BUCKETS, SUBJECTS, subjectFor } from './subjects.ts';

test('every_subject_has_one_key_token_and_no_two_rows_share_a_subject', () => {
  const subjects = Object.values(SUBJECTS).map((row) => row.subject);
  expect(new Set(subjects).size).toBe(subjects.length);
  for (const subject of subjects) expect(subject.match(/\*/g)).toHaveLength(1);
});

test('the_key_takes_the_place_of_the_star', () => {
  expect(subjectFor('report', 'b-1')).toBe('pagefleet.report.b-1');
});

test('buckets_are_written_by_the_controller_alone', () => {
  expect(Object.values(BUCKETS).every((row) => row.writer === 'controller')).toBe(true);
});
