import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import { type Config, type Pool, promptsAreHere, type WrittenConfig } from '@pagefleet/contract';
import { measure } from './read-value.ts';
import { type SettingSchema, settingsSchema } from './setting-schema.ts';

/** The code's form of a checked configuration: camel case, milliseconds and bytes, `auto` and relative paths resolved. */
export function resolveConfig(written: WrittenConfig, base: { file: string | null; cwd: string }): Config {
  const config = resolveValue(settingsSchema, written) as Config;
  const folder = base.file ? dirname(base.file) : base.cwd;
  const absolute = (path: string) => (path === '' ? '' : resolve(folder, path));
  return {
    ...config,
    workers: written.workers === 'auto' ? availableParallelism() : written.workers,
    stateDir: resolve(folder, written.state_dir),
    secretKeyFile: absolute(written.secret_key_file),
    runpod: { ...config.runpod, apiKeyFile: absolute(written.runpod.api_key_file) },
    pools: config.pools.map((pool) => (promptsAreHere(pool) ? withPrompts(pool, absolute) : pool)),
  };
}

function withPrompts(pool: Pool, absolute: (path: string) => string): Pool {
  return { ...pool, reading: { ...pool.reading, prompts: absolute(pool.reading.prompts) } };
}

function resolveValue(schema: SettingSchema, value: unknown): unknown {
  if (schema['x-kind']) return measure(schema, value as string);
  const { items, properties } = schema;
  if (Array.isArray(value)) return items ? value.map((item) => resolveValue(items, item)) : value;
  if (!properties) return value;
  const members = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [
      resolvedName(name, member),
      resolveValue(member, members[name]),
    ]),
  );
}

/** `page_deadline` → `pageDeadlineMs`, `max_body` → `maxBodyBytes`, `max_pods` → `maxPods` */
function resolvedName(name: string, schema: SettingSchema): string {
  const camel = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  const suffix = schema['x-kind'] === 'duration' ? 'Ms' : schema['x-kind'] === 'bytes' ? 'Bytes' : '';
  return camel + suffix;
}
