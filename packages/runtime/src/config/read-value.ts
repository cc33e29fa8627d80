import { parseBytes, parseDuration } from '@pagefleet/contract';
import { type ConfigIssue, showValue } from './config-issue.ts';
import { describeExpected } from './describe-expected.ts';
import { nearestName } from './nearest-name.ts';
import { isSection, joinPath, type SettingSchema } from './setting-schema.ts';

export interface ReadContext {
  readonly issues: ConfigIssue[];
  /** where a written path comes from, for the message */
  sourceOf(path: string): string | undefined;
}

/**
 * A raw tree → the written form with every default filled in. All that does not fit is noted, and the default
 * stands in its place so that the rest can be checked too.
 */
export function readValue(schema: SettingSchema, raw: unknown, path: string, context: ReadContext): unknown {
  // A section whose members are all commented out is an empty value in YAML, and means the defaults.
  const unset = raw === undefined || (raw === null && isSection(schema));
  const given = unset ? structuredClone(schema.default) : raw;
  if (schema.properties) return readSection(schema, given, path, context);
  if (schema.type === 'array') return readList(schema, given, path, context);
  const value = schema['x-kind'] && given === 0 ? '0' : given;
  if (fits(schema, value)) return value;
  context.issues.push(issueFor(schema, value, path, context));
  return schema.default ?? value;
}

function readSection(schema: SettingSchema, given: unknown, path: string, context: ReadContext): unknown {
  const properties = schema.properties ?? {};
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    context.issues.push(issueFor(schema, given, path, context));
    return readSection(schema, {}, path, { ...context, issues: [] });
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(properties, name)) continue;
    const nearest = nearestName(name, Object.keys(properties));
    context.issues.push(
      withSource(context, {
        path: joinPath(path, name),
        got: 'an unknown key',
        expected: nearest ? `${nearest}, perhaps` : `one of ${Object.keys(properties).join(', ')}`,
      }),
    );
  }
  const members = given as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [
      name,
      readValue(
        member,
        Object.hasOwn(members, name) ? members[name] : undefined,
        joinPath(path, name),
        context,
      ),
    ]),
  );
}

function readList(schema: SettingSchema, given: unknown, path: string, context: ReadContext): unknown {
  const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (!Array.isArray(given) || given.length < minItems || given.length > maxItems) {
    context.issues.push(issueFor(schema, given, path, context));
    return [];
  }
  return given.map((item, index) => (items ? readValue(items, item, joinPath(path, index), context) : item));
}

function fits(schema: SettingSchema, value: unknown): boolean {
  if (schema.anyOf) return schema.anyOf.some((option) => fits(option, value));
  if (schema.const !== undefined) return value === schema.const;
  if (schema['x-kind']) return fitsMeasure(schema, value);
  switch (schema.type) {
    case 'integer':
    case 'number':
      return fitsNumber(schema, value);
    case 'boolean':
      return typeof value === 'boolean';
    default:
      return fitsText(schema, value);
  }
}

function fitsNumber(schema: SettingSchema, value: unknown): boolean {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  if (typeof value !== 'number' || !Number.isFinite(value)) return false;
  return value >= minimum && value <= maximum && (schema.type !== 'integer' || Number.isSafeInteger(value));
}

function fitsText(schema: SettingSchema, value: unknown): boolean {
  if (typeof value !== 'string' || value.includes('\0')) return false;
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema;
  const length = [...value].length;
  return length >= minLength && length <= maxLength && (!pattern || new RegExp(pattern, 'u').test(value));
}

function fitsMeasure(schema: SettingSchema, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const size = measure(schema, value);
  const low = schema.min === undefined ? 0 : measure(schema, schema.min);
  const high = schema.max === undefined ? Number.MAX_SAFE_INTEGER : measure(schema, schema.max);
  return size !== null && low !== null && high !== null && size >= low && size <= high;
}

/** Milliseconds or bytes; null for text that is neither. */
export function measure(schema: SettingSchema, text: string): number | null {
  if (schema['x-kind'] === 'duration') {
    const parsed = parseDuration(text);
    return parsed.ok ? parsed.ms : null;
  }
  const parsed = parseBytes(text);
  return parsed.ok ? parsed.bytes : null;
}

function issueFor(schema: SettingSchema, value: unknown, path: string, context: ReadContext): ConfigIssue {
  const hidden = schema['x-secret'] && value !== undefined;
  return withSource(context, {
    path: path || 'configuration',
    got: hidden ? `something else (${String(value).length} characters, not shown)` : showValue(value),
    expected: describeExpected(schema),
  });
}

function withSource(context: ReadContext, issue: ConfigIssue): ConfigIssue {
  const from = context.sourceOf(issue.path);
  return from ? { ...issue, from } : issue;
}
