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
  const { single, grouped } = membersOf(settingsSchema);
  return [
    HEAD,
    '## Top level\n',
    table(single, '', true),
    ...grouped.flatMap(([name, schema]) => renderGroup(name, schema)),
  ].join('\n');
}

function membersOf(schema: SettingSchema) {
  const members = Object.entries(schema.items?.properties ?? schema.properties ?? {});
  const isGroup = ([, member]: [string, SettingSchema]) => isSection(member) || member.items?.properties;
  return {
    single: members.filter((member) => !isGroup(member)),
    grouped: members.filter((member) => isGroup(member)),
  };
}

/** A section or a list of them, and then those inside it. What lies in a list has no variable of its own. */
function renderGroup(path: string, schema: SettingSchema): string[] {
  const isList = schema.items?.properties !== undefined;
  const isInList = path.includes('[]');
  const variable = isInList ? '' : `; as a whole in the environment: \`${variableName(path)}\``;
  const list = isList ? ` A list${variable}. Default: \`${show(schema.default)}\`.` : '';
  const { single, grouped } = membersOf(schema);
  const inside = isList ? `${path}[]` : path;
  return [
    `## \`${path}\`\n`,
    `${schema.description ?? ''}${list}\n`,
    table(single, inside, !isList && !isInList),
    ...grouped.flatMap(([name, member]) => renderGroup(joinPath(inside, name), member)),
  ];
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
