import { PagefleetError, POD_ENV_PREFIX, PodMark, PodSettings } from '@pagefleet/contract';
import { Compile } from 'typebox/compile';

/** What of a property's schema decides how it travels as text. */
interface FieldSchema {
  readonly type?: string;
  /** 0 stands for the default: it is left out, and what is left out is 0 */
  readonly 'x-zero-is-default'?: boolean;
}

const FIELDS = Object.entries(PodSettings.properties as unknown as Record<string, FieldSchema>);
const MARK_FIELDS = Object.keys(PodMark.properties);
const validator = Compile(PodSettings);

/** `deadManMs` → `PAGEFLEET_POD_DEAD_MAN_MS` */
function variableOf(field: string): string {
  return POD_ENV_PREFIX + field.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/**
 * The environment of a pod: every setting is sent, except a number whose 0 means default, when it is 0. Flags
 * are always sent, as `1` or `0`; lists as JSON.
 */
export function encodePodSettings(settings: PodSettings): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [field, schema] of FIELDS) {
    const value = settings[field as keyof PodSettings];
    if (value === 0 && schema['x-zero-is-default']) continue;
    env[variableOf(field)] = encodeValue(value);
  }
  return env;
}

/** Reads the environment of a pod; `unknown` names the `PAGEFLEET_POD_*` variables that this version does not know. */
export function decodePodSettings(env: NodeJS.ProcessEnv): { settings: PodSettings; unknown: string[] } {
  const known = new Set(FIELDS.map(([field]) => variableOf(field)));
  const unknown = Object.keys(env).filter((name) => name.startsWith(POD_ENV_PREFIX) && !known.has(name));
  const settings = Object.fromEntries(
    FIELDS.map(([field, schema]) => [field, decodeValue(schema, env[variableOf(field)])]),
  );
  if (!validator.Check(settings)) throw refusal(validator.Errors(settings));
  return { settings, unknown };
}

/** The part of the settings that a listing of the account shows and that names the pod; it holds no secret. */
export function podMarkOf(settings: PodSettings): PodMark {
  const mark = Object.fromEntries(MARK_FIELDS.map((field) => [field, settings[field as keyof PodSettings]]));
  return mark as PodMark;
}

function encodeValue(value: PodSettings[keyof PodSettings]): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.includes('\0')) throw new PagefleetError('internal', 'A pod setting holds a NUL byte.');
  return text;
}

/** What cannot be read stays as it is, so that the schema refuses it by name. */
function decodeValue(schema: FieldSchema, text: string | undefined): unknown {
  if (text === undefined) return schema['x-zero-is-default'] ? 0 : undefined;
  switch (schema.type) {
    case 'boolean':
      return ['1', 'true', 'yes', 'on'].includes(text.trim().toLowerCase());
    case 'integer':
    case 'number':
      return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
    case 'array':
      return parseList(text);
    default:
      return text;
  }
}

function parseList(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function refusal(
  errors: readonly { instancePath: string; message: string; params: object }[],
): PagefleetError {
  const issues = errors.map((error) => {
    const missing = (error.params as { requiredProperties?: string[] }).requiredProperties;
    const fields = missing ?? [error.instancePath.split('/')[1] ?? ''];
    return { path: fields.map(variableOf).join(', '), expected: error.message };
  });
  const lines = issues.map(({ path, expected }) => `${path} ${expected}`);
  return new PagefleetError('config_invalid', `The settings of this pod are wrong: ${lines.join('; ')}`, {
    details: { issues },
  });
}
