import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { Problem } from './problem.ts';

const compiled = new WeakMap<TSchema, Validator>();

/** The body as its schema says; anything else is a 422 that names what is wrong as RunPod's own validator does. */
export function checkBody<S extends TSchema>(schema: S, body: unknown): Static<S> {
  const validator = compiled.get(schema) ?? Compile(schema);
  compiled.set(schema, validator);
  if (validator.Check(body)) return body as Static<S>;
  const errors = validator.Errors(body).flatMap(linesOf);
  throw new Problem(422, 'Request validation failed.', [...new Set(errors)]);
}

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

function linesOf({ keyword, instancePath, message, params }: SchemaError): string[] {
  const at = `$${instancePath.replaceAll('/', '.')}`;
  const {
    requiredProperties = [],
    additionalProperties = [],
    allowedValues,
  } = params as {
    requiredProperties?: string[];
    additionalProperties?: string[];
    allowedValues?: unknown[];
  };
  // One line for the object is enough; the false schema of each extra property says it again.
  if (keyword === 'boolean') return [];
  if (keyword === 'required') return requiredProperties.map((name) => `${at}: missing property '${name}'`);
  if (keyword === 'additionalProperties') {
    return additionalProperties.map((name) => `${at}: additional properties '${name}' not allowed`);
  }
  if (allowedValues)
    return [`${at}: value must be one of ${allowedValues.map((value) => `'${value}'`).join(', ')}`];
  return [`${at}: ${message}`];
}
