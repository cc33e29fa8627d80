import { type SettingSchema, settingsSchema } from './setting-schema.ts';

const PATTERNS = {
  duration: '^(0|(\\d+(\\.\\d+)?(ms|s|m|h|d))+)$',
  bytes: '^(0|\\d+(\\.\\d+)?(B|KB|MB|GB|KiB|MiB|GiB))$',
} as const;

/** JSON Schema of `pagefleet.yaml`, for editors. Bounds of durations and sizes, which it cannot check, are in the text. */
export function configJsonSchema(): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'pagefleet.yaml',
    ...toJsonSchema(settingsSchema),
  };
}

function toJsonSchema(schema: SettingSchema): Record<string, unknown> {
  const { 'x-kind': kind, 'x-secret': _, min, max, unit: __, properties, items, anyOf, ...rest } = schema;
  const range = [min && `at least ${min}`, max && `at most ${max}`].filter(Boolean).join(', ');
  return {
    ...rest,
    ...(kind ? { type: ['string', 'integer'], pattern: PATTERNS[kind], minimum: 0, maximum: 0 } : {}),
    ...(kind && range ? { description: `${schema.description ?? ''} (${range})` } : {}),
    ...(anyOf ? { anyOf: anyOf.map(toJsonSchema) } : {}),
    ...(items ? { items: toJsonSchema(items) } : {}),
    ...(properties
      ? {
          additionalProperties: false,
          required: Object.keys(properties).filter((name) => properties[name]?.default === undefined),
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, member]) => [name, toJsonSchema(member)]),
          ),
        }
      : {}),
  };
}
