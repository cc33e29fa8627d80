import type { SettingSchema } from './setting-schema.ts';

/** What a setting accepts, in words: `an integer from 1 to 64`, `a duration from 1s to 14m, such as 90s`. */
export function describeExpected(schema: SettingSchema): string {
  if (schema.anyOf) return schema.anyOf.map(describeExpected).join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema['x-kind'] === 'duration')
    return `a duration${range(schema.min, schema.max)}, such as 90s or 10m`;
  if (schema['x-kind'] === 'bytes') return `a size${range(schema.min, schema.max)}, such as 50MB or 256MiB`;
  switch (schema.type) {
    case 'integer':
      return `an integer${range(schema.minimum, schema.maximum)}`;
    case 'number':
      return `a number${range(schema.minimum, schema.maximum)}`;
    case 'boolean':
      return 'true or false';
    case 'string':
      return describeText(schema);
    case 'array':
      return `a list${count(schema, 'entries')}`;
    default:
      return `a mapping with ${Object.keys(schema.properties ?? {}).join(', ')}`;
  }
}

function describeText(schema: SettingSchema): string {
  if (schema.pattern) return `text that matches ${schema.pattern}`;
  const { minLength = 0, maxLength } = schema;
  if (maxLength !== undefined) return `text of ${minLength} to ${maxLength} characters`;
  return minLength > 0 ? 'text that is not empty' : 'text';
}

function range(low: string | number | undefined, high: string | number | undefined): string {
  if (low !== undefined && high !== undefined) return ` from ${low} to ${high}`;
  if (low !== undefined) return ` of at least ${low}`;
  return high === undefined ? '' : ` up to ${high}`;
}

function count(schema: SettingSchema, noun: string): string {
  const { minItems, maxItems } = schema;
  return minItems === undefined && maxItems === undefined
    ? ''
    : ` of ${minItems ?? 0} to ${maxItems ?? 'any number of'} ${noun}`;
}
