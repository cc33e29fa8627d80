import type { TSchema } from 'typebox';
import { EpochRecord, Report, Roster, Slice } from './records.ts';

interface SubjectRow<S extends TSchema = TSchema> {
  /** `*` stands for the key, one token */
  readonly subject: string;
  readonly schema: S;
  readonly from: 'controller' | 'worker' | 'primary';
  readonly to: 'controller' | 'worker';
  readonly doc: string;
}

interface BucketRow<S extends TSchema = TSchema> {
  readonly bucket: string;
  readonly schema: S;
  readonly writer: 'controller';
  readonly doc: string;
}

/** Plain subjects: the newest message is all that counts, a lost one is followed by the next. */
export const SUBJECTS = {
  report: {
    subject: 'pagefleet.report.*',
    schema: Report,
    from: 'worker',
    to: 'controller',
    doc: 'In flight, demand and suspicions of one worker; key = bootId.',
  },
  roster: {
    subject: 'pagefleet.roster.*',
    schema: Roster,
    from: 'primary',
    to: 'controller',
    doc: 'Which workers exist and which have exited; key = group.',
  },
} as const satisfies Record<string, SubjectRow>;

/** KV buckets, written by compare-and-set. Nothing that money hangs on is in them. */
export const BUCKETS = {
  slices: {
    bucket: 'pagefleet_slices',
    schema: Slice,
    writer: 'controller',
    doc: 'The pods a worker may use now; key = bootId.',
  },
  control: {
    bucket: 'pagefleet_control',
    schema: EpochRecord,
    writer: 'controller',
    doc: 'Key `epoch`: the number of the controller in charge.',
  },
} as const satisfies Record<string, BucketRow>;

export type SubjectName = keyof typeof SUBJECTS;
export type BucketName = keyof typeof BUCKETS;

/** The subject of one sender: `subjectFor('report', bootId)`. */
export function subjectFor(name: SubjectName, key: string): string {
  return SUBJECTS[name].subject.replace('*', key);
}
