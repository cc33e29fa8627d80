import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadOrCreateSecret } from './secret.ts';

// Other processes are started here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pagefleet-secret-'));
  file = join(folder, 'state', 'secret.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('loadOrCreateSecret (R-037)', () => {
  it('makes_a_file_and_a_folder_for_the_owner_only', () => {
    const secret = loadOrCreateSecret(file);
    expect(secret.keys[secret.current]).toMatch(/^[0-9a-f]{64}$/);
    expect(modeOf(file)).toBe('600');
    expect(modeOf(join(folder, 'state'))).toBe('700');
    expect(readdirSync(join(folder, 'state'))).toEqual(['secret.json']);
  });

  it('is_made_once', () => {
    const first = loadOrCreateSecret(file);
    const bytes = readFileSync(file);
    expect(loadOrCreateSecret(file)).toEqual(first);
    expect(readFileSync(file)).toEqual(bytes);
  });

  it('several_processes_at_once_agree_on_one', async () => {
    const source = `
      const { parentPort } = require('node:worker_threads');
      import(${JSON.stringify(join(import.meta.dirname, 'secret.ts'))})
        .then(({ loadOrCreateSecret }) => parentPort.postMessage(loadOrCreateSecret(${JSON.stringify(file)})));`;
    const secrets = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const worker = new Worker(source, { eval: true });
        return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
      }),
    );
    expect(new Set(secrets.map((secret) => JSON.stringify(secret))).size).toBe(1);
    expect(readdirSync(join(folder, 'state'))).toEqual(['secret.json']);
  });

  it('a_file_that_others_may_read_is_refused_with_the_command_that_mends_it', () => {
    loadOrCreateSecret(file);
    chmodSync(file, 0o644);
    expect(() => loadOrCreateSecret(file)).toThrow(`chmod 600 ${file}`);
    expect(modeOf(file)).toBe('644');
  });

  it.each([
    ['', 'nothing'],
    ['{', 'half a file'],
    ['null', 'null'],
    ['{"v":2,"clusterId":"c","current":"a","keys":{"a":"x"}}', 'another version'],
    ['{"v":1,"clusterId":"c","current":"b","keys":{"a":"x"}}', 'a current key that is not there'],
    ['{"v":1,"clusterId":"c","current":"a","keys":{"a":"short"}}', 'a key too short'],
  ])('a damaged file is refused and kept: %s (%s)', (text) => {
    loadOrCreateSecret(file);
    writeFileSync(file, text);
    expect(() => loadOrCreateSecret(file)).toThrow('It is never overwritten');
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('a_folder_that_cannot_be_written_is_a_clear_error', () => {
    writeFileSync(join(folder, 'state'), 'a file where the folder should be');
    expect(() => loadOrCreateSecret(file)).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: expect.stringContaining(`${file} does not exist and cannot be made`),
      }),
    );
  });

  it('a_secret_that_exists_is_read_from_a_folder_that_cannot_be_written', () => {
    const first = loadOrCreateSecret(file);
    chmodSync(join(folder, 'state'), 0o500);
    expect(loadOrCreateSecret(file)).toEqual(first);
    chmodSync(join(folder, 'state'), 0o700);
  });
});

describe('a configured key (R-037)', () => {
  const keyFileWith = (text: string, mode = 0o600) => {
    const path = join(folder, `key-${text.slice(0, 4)}`);
    writeFileSync(path, text, { mode });
    return path;
  };
  const KEY_A = 'a1'.repeat(32);
  const KEY_B = 'b2'.repeat(32);
  const loadWith = (text: string) => loadOrCreateSecret(file, { keyFile: keyFileWith(text) });

  it('wins_over_the_kept_one_which_stays_for_the_pods_that_have_it', () => {
    const made = loadOrCreateSecret(file);
    const configured = loadWith(`${KEY_A}\n`);
    expect(configured.keys[configured.current]).toBe(KEY_A);
    expect(configured).toMatchObject({ clusterId: made.clusterId, keys: made.keys });
    expect(modeOf(file)).toBe('600');
    expect(readdirSync(join(folder, 'state'))).toEqual(['secret.json']);
  });

  it('is_kept_when_another_takes_its_place_or_none_does', () => {
    const a = loadWith(KEY_A);
    const b = loadWith(KEY_B);
    expect(b.keys).toMatchObject(a.keys);
    expect(b.keys[b.current]).toBe(KEY_B);
    expect(loadOrCreateSecret(file)).toEqual(b);
    expect(loadWith(KEY_A)).toEqual({ ...b, current: a.current });
  });

  it('a_cluster_that_lost_its_state_is_the_same_one_again_by_its_key', () => {
    const before = loadWith(KEY_A);
    rmSync(file);
    expect(loadWith(KEY_A)).toEqual(before);
    rmSync(file);
    expect(loadWith(KEY_B).clusterId).not.toBe(before.clusterId);
  });

  it('serves_where_nothing_can_be_kept_and_says_so', () => {
    writeFileSync(join(folder, 'state'), 'a file where the folder should be');
    const causes: unknown[] = [];
    const keyFile = keyFileWith(KEY_A);
    const load = () => loadOrCreateSecret(file, { keyFile, onUnstored: (cause) => causes.push(cause) });
    const first = load();
    expect(first.keys[first.current]).toBe(KEY_A);
    expect(load()).toEqual(first);
    expect(causes).toMatchObject([{ code: 'config_invalid' }, { code: 'config_invalid' }]);
  });

  it.each(['', 'short', `${KEY_A}0`, 'zz'.repeat(32)])('%j is no key, and nothing is made', (text) => {
    expect(() => loadWith(text)).toThrow('(secret_key_file) holds no key; expected 64 hex digits');
    expect(existsSync(file)).toBe(false);
  });

  it('a_key_file_that_is_missing_or_open_to_others_is_refused', () => {
    const missing = join(folder, 'nothing-here');
    expect(() => loadOrCreateSecret(file, { keyFile: missing })).toThrow(
      `The key file ${missing} (secret_key_file) cannot be read`,
    );
    const open = keyFileWith(KEY_A, 0o644);
    expect(() => loadOrCreateSecret(file, { keyFile: open })).toThrow(`chmod 600 ${open}`);
  });
});

/** root may write everywhere, so the refusal of a read-only folder needs another user; here the program decides by itself */
describe('as_another_user', () => {
  const asRoot = process.getuid?.() === 0 && existsSync('/usr/bin/setpriv');

  it('a_read_only_folder_is_a_clear_error', () => {
    chmodSync(folder, 0o555);
    const script = `import(${JSON.stringify(join(import.meta.dirname, 'secret.ts'))}).then(
      ({ loadOrCreateSecret }) => loadOrCreateSecret(${JSON.stringify(join(folder, 'secret.json'))}))
      .catch((error) => { process.stdout.write(error.code + ' ' + error.message); });`;
    const node = [process.execPath, '-e', script] as const;
    const [command, ...args] = asRoot
      ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', ...node]
      : node;
    const { stdout } = spawnSync(command ?? '', args, { encoding: 'utf8' });
    expect(stdout).toContain('config_invalid The cluster secret');
    expect(stdout).toContain('EACCES');
    expect(stdout).toContain('secret_key_file');
  });
});
