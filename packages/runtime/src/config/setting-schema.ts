import { ConfigSchema } from '@pagefleet/contract';

/** The JSON schema keywords that settings use; `ConfigSchema` is read through them. */
export interface SettingSchema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly 'x-kind'?: 'duration' | 'bytes';
  /** a value that is never shown back: someone may have put a key there by mistake */
  readonly 'x-secret'?: boolean;
  readonly properties?: Readonly<Record<string, SettingSchema>>;
  readonly items?: SettingSchema;
  readonly anyOf?: readonly SettingSchema[];
  readonly const?: string | number | boolean;
  readonly default?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** bounds of durations and sizes, as text */
  readonly min?: string;
  readonly max?: string;
  readonly description?: string;
  readonly unit?: string;
}

export const settingsSchema = ConfigSchema as unknown as SettingSchema;

export function isSection(schema: SettingSchema): boolean {
  return schema.properties !== undefined;
}

/** `limits` + `max_in_flight` → `limits.max_in_flight`; the root's path is empty. */
export function joinPath(parent: string, name: string | number): string {
  if (typeof name === 'number') return `${parent}[${name}]`;
  return parent === '' ? name : `${parent}.${name}`;
}

/** `limits.max_in_flight` → `PAGEFLEET_LIMITS_MAX_IN_FLIGHT` */
export function variableName(path: string): string {
  return `PAGEFLEET_${path.replaceAll('.', '_').toUpperCase()}`;
}

/** Every path that has a variable of its own: sections, and settings that are not inside a list. */
export function settablePaths(
  schema: SettingSchema = settingsSchema,
  parent = '',
): Map<string, SettingSchema> {
  const paths = new Map<string, SettingSchema>();
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const path = joinPath(parent, name);
    paths.set(path, member);
    for (const [deeper, deeperSchema] of settablePaths(member, path)) paths.set(deeper, deeperSchema);
  }
  return paths;
}
