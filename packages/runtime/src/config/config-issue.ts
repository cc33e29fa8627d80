import { PagefleetError } from '@pagefleet/contract';

/** One thing that is wrong with the configuration. */
export interface ConfigIssue {
  /** `limits.max_in_flight`, `pools[1].name`; the variable's name when no setting belongs to it */
  readonly path: string;
  readonly got: string;
  readonly expected: string;
  /** `pagefleet.yaml line 12` or the variable's name; absent for a default */
  readonly from?: string;
}

/** All problems at once, so that nobody mends them one start at a time. */
export function configInvalid(issues: readonly ConfigIssue[]): PagefleetError {
  const lines = issues.map(
    ({ path, got, expected, from }) =>
      `  ${path}: got ${got}, expected ${expected}${from ? ` (${from})` : ''}`,
  );
  const head =
    issues.length === 1
      ? 'The configuration has a problem:'
      : `The configuration has ${issues.length} problems:`;
  return new PagefleetError('config_invalid', [head, ...lines].join('\n'), { details: { issues } });
}

/** A value as a message shows it, short. */
export function showValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'nothing (an empty value)';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'a mapping';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
