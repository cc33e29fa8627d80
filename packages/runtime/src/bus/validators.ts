import {
  BUCKETS,
  type BucketName,
  type EpochRecord,
  type Report,
  type Roster,
  type Slice,
  SUBJECTS,
  type SubjectName,
} from '@pagefleet/contract';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

// Named one by one: `Static` of a generic row costs the compiler four million instantiations.
interface SubjectRecords {
  report: Report;
  roster: Roster;
}
interface BucketRecords {
  slices: Slice;
  control: EpochRecord;
}
export type SubjectRecord<N extends SubjectName> = SubjectRecords[N];
export type BucketRecord<B extends BucketName> = BucketRecords[B];

/** Answers null for a good record, else what is wrong with it. */
export type Validate = (value: unknown) => string | null;

const compiled = new Map<TSchema, Validate>();

export function subjectValidator(name: SubjectName): Validate {
  return validatorOf(SUBJECTS[name].schema);
}

export function bucketValidator(name: BucketName): Validate {
  return validatorOf(BUCKETS[name].schema);
}

function validatorOf(schema: TSchema): Validate {
  const known = compiled.get(schema);
  if (known) return known;
  const validator = Compile(schema);
  const validate: Validate = (value) => {
    if (validator.Check(value)) return null;
    const first = validator.Errors(value)[0];
    return first ? `${first.instancePath || 'record'} ${first.message}` : 'does not fit its schema';
  };
  compiled.set(schema, validate);
  return validate;
}
