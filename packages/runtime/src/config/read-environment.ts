import { POD_ENV_PREFIX } from '@pagefleet/contract';
import type { ConfigIssue } from './config-issue.ts';
import { describeExpected } from './describe-expected.ts';
import { nearestName } from './nearest-name.ts';
import { readYaml } from './read-yaml.ts';
import { isSection, type SettingSchema, settablePaths, variableName } from './setting-schema.ts';

export interface EnvironmentValue {
  readonly path: string;
  readonly name: string;
  readonly value: unknown;
}

/** Variables of ours that are no settings: where the state is, and what a pod is told. */
function isNoSetting(name: string): boolean {
  return name === 'PAGEFLEET_STATE' || name.startsWith(POD_ENV_PREFIX);
}

/** All `PAGEFLEET_*` variables, sections before their members so that the more exact one wins. */
export function readEnvironment(env: NodeJS.ProcessEnv): {
  values: EnvironmentValue[];
  issues: ConfigIssue[];
} {
  const paths = settablePaths();
  const byVariable = new Map([...paths].map(([path, schema]) => [variableName(path), { path, schema }]));
  const values: EnvironmentValue[] = [];
  const issues: ConfigIssue[] = [];
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith('PAGEFLEET_') || isNoSetting(name) || text === undefined) continue;
    const known = byVariable.get(name);
    if (!known) {
      const nearest = nearestName(name, byVariable.keys());
      issues.push({
        path: name,
        got: 'a variable that is no setting',
        expected: nearest ? `${nearest}, perhaps` : 'one of the variables in docs/config.md',
        from: 'environment',
      });
      continue;
    }
    const parsed = parseText(known.schema, text);
    if (parsed.ok) values.push({ path: known.path, name, value: parsed.value });
    else issues.push({ path: known.path, got: parsed.got, expected: parsed.expected, from: name });
  }
  values.sort((a, b) => a.path.split('.').length - b.path.split('.').length);
  return { values, issues };
}

type ParsedText = { ok: true; value: unknown } | { ok: false; got: string; expected: string };

/** Text of a variable → what YAML would have held. What does not convert stays text and is refused by the check. */
function parseText(schema: SettingSchema, text: string): ParsedText {
  if (schema.type === 'array' || isSection(schema)) {
    const yaml = readYaml(text, 'text');
    const first = yaml.issues[0];
    if (!first) return { ok: true, value: yaml.value };
    return { ok: false, got: first.got, expected: `${describeExpected(schema)}, as YAML text` };
  }
  return { ok: true, value: convertScalar(schema, text.trim()) };
}

function convertScalar(schema: SettingSchema, text: string): unknown {
  const accepts = (type: string) =>
    schema.type === type || schema.anyOf?.some((option) => option.type === type);
  if ((accepts('integer') || accepts('number')) && /^[+-]?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (accepts('boolean')) {
    if (['1', 'true', 'yes', 'on'].includes(text.toLowerCase())) return true;
    if (['0', 'false', 'no', 'off'].includes(text.toLowerCase())) return false;
  }
  return text;
}
