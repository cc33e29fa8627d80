import { stringify } from 'yaml';
import { describeExpected } from './describe-expected.ts';
import { isSection, joinPath, type SettingSchema, settingsSchema, variableName } from './setting-schema.ts';

const HEAD = `# Configuration

Generated from the schema by \`pagefleet config docs\`; do not edit.

pagefleet reads \`pagefleet.yaml\` in the working folder, or the file given with \`--config\`. Every setting has a default; a
file is not needed. A value comes from the default, then the file, then the environment, the last one wins; \`pagefleet
config show\` prints each value with its origin. An unknown key or variable is an error.

In the environment a setting is \`PAGEFLEET_\` and its path in capitals: \`limits.max_in_flight\` is
\`PAGEFLEET_LIMITS_MAX_IN_FLIGHT\`. Lists and sections are YAML text: \`PAGEFLEET_POOLS='[{name: ocr, max_pods: 4}]'\`.
\`PAGEFLEET_STATE\` and \`PAGEFLEET_POD_*\` are not settings; the cluster sets them for its own programs.

Durations are written \`250ms\`, \`90s\`, \`10m\`, \`2h\`, \`7d\` or \`0\`; sizes \`50MB\`, \`256MiB\` or \`0\`. A change is
applied by \`pagefleet down --keep-pods\` and \`pagefleet up\`; the pods stay.
`;

/** The text of `docs/config.md`. */
export function renderConfigReference(): string {
  const properties = Object.entries(settingsSchema.properties ?? {});
  const top = properties.filter(([, schema]) => !isSection(schema) && !schema.items?.properties);
  const grouped = properties.filter(([, schema]) => isSection(schema) || schema.items?.properties);
  return [
    HEAD,
    '## Top level\n',
    table(top, '', true),
    ...grouped.flatMap(([name, schema]) => renderGroup(name, schema)),
  ].join('\n');
}

function renderGroup(name: string, schema: SettingSchema): string[] {
  const list = schema.items?.properties;
  const members = Object.entries(list ?? schema.properties ?? {});
  const intro = [
    schema.description ?? '',
    ...(list
      ? [
          `A list; as a whole in the environment: \`${variableName(name)}\`. Default: \`${show(schema.default)}\`.`,
        ]
      : []),
  ].join(' ');
  return [`## \`${name}\`\n`, `${intro}\n`, table(members, list ? `${name}[]` : name, !list)];
}

function table(members: [string, SettingSchema][], parent: string, withVariable: boolean): string {
  const rows = members.map(([name, schema]) => {
    const path = joinPath(parent, name);
    const variable = withVariable ? `<br>\`${variableName(path)}\`` : '';
    const fallback = fallbackOf(schema.default);
    const notes = [schema.description, schema.unit && `In ${schema.unit}.`];
    return `| \`${path}\`${variable} | ${fallback} | ${escapeCell(expected(schema))} | ${escapeCell(notes.filter(Boolean).join(' '))} |`;
  });
  return ['| setting | default | accepts | |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function expected(schema: SettingSchema): string {
  const { items } = schema;
  return items && !items.properties
    ? `${describeExpected(schema)}, each ${describeExpected(items)}`
    : describeExpected(schema);
}

function show(value: unknown): string {
  return typeof value === 'string'
    ? value
    : stringify(value, { collectionStyle: 'flow' }).trim().replace(/\s+/g, ' ');
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function fallbackOf(value: unknown): string {
  if (value === undefined) return '*required*';
  return value === '' ? '*none*' : `\`${show(value)}\``;
}
