import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Schema from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { repoRoot } from '../program-path.ts';
import { configJsonSchema } from './config-json-schema.ts';
import { loadConfig } from './load-config.ts';
import { renderConfigReference } from './render-config-reference.ts';
import { type SettingSchema, settablePaths, settingsSchema, variableName } from './setting-schema.ts';

/** Every setting, those inside lists included, as `path: schema`. */
function allSettings(schema: SettingSchema, path: string): [string, SettingSchema][] {
  if (schema.items?.properties) return allSettings(schema.items, `${path}[]`);
  if (!schema.properties) return [[path, schema]];
  return Object.entries(schema.properties).flatMap(([name, member]) =>
    allSettings(member, path === '' ? name : `${path}.${name}`),
  );
}

describe('the configuration reference', () => {
  it('docs_config_md_is_what_the_schema_says', () => {
    const committed = readFileSync(join(repoRoot(), 'docs/config.md'), 'utf8');
    // Made anew with: node packages/cli/src/main.ts config docs > docs/config.md
    expect(committed).toBe(renderConfigReference());
  });

  it('names_every_setting_with_its_variable', () => {
    const text = renderConfigReference();
    const settings = allSettings(settingsSchema, '');
    expect(settings.length).toBeGreaterThan(40);
    for (const [path] of settings) expect(text).toContain(`\`${path}\``);
    for (const [path, schema] of settablePaths()) {
      if (!schema.properties) expect(text).toContain(variableName(path));
    }
  });

  it('every_setting_has_a_description_and_a_default_unless_it_is_required', () => {
    for (const [path, schema] of allSettings(settingsSchema, '')) {
      expect(schema.description, path).toMatch(/\.$/);
      const required = [
        ...['pools[].name', 'pools[].machine.cards[].id', 'pools[].schedule[].from', 'pools[].schedule[].to'],
        ...['api_keys[].name', 'api_keys[].sha256', 'pools[].vllm.loras[].name', 'pools[].vllm.loras[].path'],
      ].includes(path);
      expect(schema.default === undefined, path).toBe(required);
    }
  });

  it('no_two_settings_share_a_variable', () => {
    const names = [...settablePaths().keys()].map(variableName);
    expect(new Set(names).size).toBe(names.length);
    expect(names).not.toContain('PAGEFLEET_STATE');
    expect(names.filter((name) => name.startsWith('PAGEFLEET_POD_'))).toEqual([]);
  });
});

describe('the JSON schema', () => {
  const schema = configJsonSchema();
  const accepts = (yaml: string) => Schema.Check(schema, parse(yaml));

  it('accepts_what_the_loader_writes', () => {
    const { written } = loadConfig({ env: {}, cwd: import.meta.dirname });
    expect(Schema.Check(schema, written)).toBe(true);
    expect(accepts('limits: {max_wait: 0}')).toBe(true);
  });

  it.each([
    'limits: {max_inflight: 1}',
    'limits: {page_deadline: 10 minutes}',
    'limits: {page_deadline: 600}',
    'workers: many',
    'pools: [{max_pods: 1}]',
    'pools: []',
  ])('refuses %s', (yaml) => {
    expect(accepts(yaml)).toBe(false);
  });

  it('is_plain_json_without_our_own_marks', () => {
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
    expect(JSON.stringify(schema)).not.toMatch(/"x-|"~/);
  });
});
