/** What a field of a script may be, by the word that an error names. */
const KINDS = {
  number: (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
  boolean: (value: unknown) => typeof value === 'boolean',
  string: (value: unknown) => typeof value === 'string',
  object: (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value),
  list: (value: unknown) => Array.isArray(value),
} as const;

type Kind = keyof typeof KINDS | `"${string}"`;
export type Shape = Readonly<Record<string, readonly Kind[]>>;

/** Throws an error that names the first field that is not as expected, with its path. */
export function checkShape(value: unknown, shape: Shape, path: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${path}: expected an object, got ${JSON.stringify(value)}`);
  for (const [key, field] of Object.entries(value)) {
    const kinds = shape[key];
    if (kinds === undefined)
      throw new Error(`${path}.${key}: unknown; expected one of ${Object.keys(shape).join(', ')}`);
    if (!kinds.some((kind) => isOf(kind, field)))
      throw new Error(`${path}.${key}: expected ${kinds.join(' or ')}, got ${JSON.stringify(field)}`);
  }
  return value as Record<string, unknown>;
}

function isOf(kind: Kind, value: unknown): boolean {
  return kind.startsWith('"') ? JSON.stringify(value) === kind : KINDS[kind as keyof typeof KINDS](value);
}
