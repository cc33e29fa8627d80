import { PagefleetError, POD_ENV_PREFIX, PodMark, PodSettings } from '@pagefleet/contract';
import { Compile } from 'typebox/compile';

/** What of a property's schema decides how it travels as text. */
interface FieldSchema {
  readonly type?: string;
  /** 0 or empty stands for the default: it is left out, and what is left out comes back as that */
  readonly 'x-default-not-sent'?: boolean;
  /** the engines whose pods are told it; left out: all of them */
  readonly 'x-engines'?: readonly string[];
  readonly default?: unknown;
  /** the variable in which the provider tells the pod what we could not know when we asked for it */
  readonly 'x-told-by-provider'?: string;
}

const FIELDS = Object.entries(PodSettings.properties as unknown as Record<string, FieldSchema>);
const MARK_FIELDS = Object.keys(PodMark.properties);
const validator = Compile(PodSettings);
const markValidator = Compile(PodMark);

type OfSomeEngines = Pick<
  PodSettings,
  | 'languages'
  | 'dpi'
  | 'tesseract'
  | 'pageTimeoutMs'
  | 'sleepMs'
  | 'serverCommand'
  | 'serverEnv'
  | 'serverStartMs'
  | 'readDpi'
  | 'readMaxTokens'
  | 'readContinuations'
  | 'readRetries'
  | 'readTimeoutMs'
  | 'loopAbort'
  | 'loopFirstLook'
  | 'loopStep'
  | 'loopHits'
  | 'prompts'
  | 'accentRepair'
  | 'tokenTrace'
>;

/** What a pod has of settings that its engine does not have. */
export function defaultEngineSettings(): OfSomeEngines {
  const ofSome = FIELDS.filter(([, schema]) => schema['x-engines'] !== undefined);
  return Object.fromEntries(
    ofSome.map(([field, schema]) => [field, structuredClone(schema.default)]),
  ) as OfSomeEngines;
}

/** `deadManMs` → `PAGEFLEET_POD_DEAD_MAN_MS` */
function variableOf(field: string): string {
  return POD_ENV_PREFIX + field.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** How one setting travels, for a pod whose program is not ours to type-check. */
export interface ToldSetting {
  readonly field: string;
  readonly kind: 'string' | 'integer' | 'number' | 'boolean' | 'array';
  /** what stands for it when it is not sent; null: it always is */
  readonly absent: unknown;
  /** the variable in which the provider tells it instead */
  readonly elsewhere: string | null;
}

/** Every setting that a pod of one of these engines is told, by variable. */
export function toldSettings(engines: readonly string[]): Record<string, ToldSetting> {
  return Object.fromEntries(
    FIELDS.filter(([, schema]) => engines.some((engine) => concerns(schema, engine))).map(
      ([field, schema]) => [
        variableOf(field),
        {
          field,
          kind: (schema.type ?? 'string') as ToldSetting['kind'],
          absent: schema['x-default-not-sent'] ? emptyOf(schema) : null,
          elsewhere: schema['x-told-by-provider'] ?? null,
        },
      ],
    ),
  );
}

/** `podId` null: the provider gives the id and tells it the pod. */
type ToldSettings = Omit<PodSettings, 'podId'> & { readonly podId: string | null };

/**
 * The environment of a pod: every setting of its engine is sent, except one whose 0 or empty text means default,
 * when it is that. Flags are always sent, as `1` or `0`; lists as JSON.
 */
export function encodePodSettings(settings: ToldSettings): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [field, schema] of FIELDS) {
    const value = settings[field as keyof PodSettings];
    if (!concerns(schema, settings.engine)) continue;
    if (value === null || (schema['x-default-not-sent'] && (value === 0 || value === ''))) continue;
    env[variableOf(field)] = encodeValue(value);
  }
  return env;
}

/** Reads the environment of a pod; `unknown` names the `PAGEFLEET_POD_*` variables that this version does not know. */
export function decodePodSettings(env: NodeJS.ProcessEnv): { settings: PodSettings; unknown: string[] } {
  const known = new Set(FIELDS.map(([field]) => variableOf(field)));
  const unknown = Object.keys(env).filter((name) => name.startsWith(POD_ENV_PREFIX) && !known.has(name));
  const engine = env[variableOf('engine')] ?? '';
  const settings = Object.fromEntries(
    FIELDS.map(([field, schema]) => [
      field,
      concerns(schema, engine) ? decodeValue(schema, textOf(env, field, schema)) : schema.default,
    ]),
  );
  if (!validator.Check(settings)) throw refusal(validator.Errors(settings));
  return { settings, unknown };
}

/** The part of the settings that a listing of the account shows and that names the pod; it holds no secret. */
export function podMarkOf(settings: PodSettings): PodMark {
  const mark = Object.fromEntries(MARK_FIELDS.map((field) => [field, settings[field as keyof PodSettings]]));
  return mark as PodMark;
}

/**
 * The mark in the environment that a listing shows; null: not a pod of ours. The other settings may be of a version that
 * is not known here.
 */
export function decodePodMark(env: Readonly<Record<string, string | undefined>>): PodMark | null {
  const mark: unknown = Object.fromEntries(
    FIELDS.filter(([field]) => MARK_FIELDS.includes(field)).map(([field, schema]) => [
      field,
      decodeValue(schema, textOf(env, field, schema)),
    ]),
  );
  return markValidator.Check(mark) ? mark : null;
}

function concerns(schema: FieldSchema, engine: string): boolean {
  return schema['x-engines']?.includes(engine) ?? true;
}

function textOf(env: NodeJS.ProcessEnv, field: string, schema: FieldSchema): string | undefined {
  const { 'x-told-by-provider': elsewhere } = schema;
  return env[variableOf(field)] ?? (elsewhere === undefined ? undefined : env[elsewhere]);
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
  if (text === undefined) return schema['x-default-not-sent'] ? emptyOf(schema) : undefined;
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

function emptyOf(schema: FieldSchema): 0 | '' {
  return schema.type === 'string' ? '' : 0;
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
