import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterPaths, freePorts, realNodeBinary, repoRoot } from '@pagefleet/runtime';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli, startCluster, type TestCluster } from '../cluster.ts';

const SAMPLE = join(repoRoot(), 'docs/sample/scan.pdf');
let running: TestCluster;

beforeAll(async () => {
  running = await startCluster();
});
afterAll(async () => {
  await running?.down();
});

describe('the first hour of a new user (issue 2 f)', () => {
  test('the_sample_comes_back_as_text_in_page_order_through_nginx', async () => {
    const read = await running.cli(['ocr', SAMPLE]);
    expect(read.stderr).toBe('');
    expect(read.code).toBe(0);
    const pages = read.stdout.split('\f');
    expect(pages).toHaveLength(3);
    expect(pages[0]).toContain('32 Track MIDI Sequence Recorder');
    expect(pages[1]).toContain('TEMPO may be specified in BEATS-PER-MINUTE');
  });

  test('every_supervised_node_program_is_the_real_node_and_not_a_wrapper', () => {
    const binary = realNodeBinary();
    for (const program of ['controller', 'workers', 'worker', 'backup', 'pod'] as const) {
      const pids = running.pidsOf(program);
      expect(pids.length, program).toBeGreaterThan(0);
      for (const pid of pids) expect(readlinkSync(`/proc/${pid}/exe`), program).toBe(binary);
    }
    expect(running.pidsOf('worker')).toHaveLength(2);
  });

  test('a_second_up_on_the_same_state_directory_is_refused_with_what_to_do', async () => {
    const second = await running.up();
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/^pagefleet: A cluster already runs on .*pagefleet status.*pagefleet down/);
    expect(second.stderr.trim().split('\n')).toHaveLength(1);
  });

  test('status_and_plan_answer_as_table_and_as_json', async () => {
    const table = await running.cli(['status']);
    expect(table.stdout).toMatch(/POOL\s+ENGINE/);
    const json = await running.cli(['status', '--json']);
    expect(JSON.parse(json.stdout).summary.pods_ready).toBeGreaterThan(0);
    expect((await running.cli(['plan'])).stdout).toMatch(/next look in/);
  });

  test('exit_codes_tell_a_bad_document_from_a_bad_call', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pf-ocr-'));
    const garbage = join(folder, 'garbage.pdf');
    writeFileSync(garbage, '%PDF-1.4\nnothing');
    const damaged = await running.cli(['ocr', garbage]);
    expect([damaged.code, damaged.stdout]).toEqual([2, '']);
    expect(damaged.stderr).toMatch(/^pagefleet: .*garbage\.pdf: .*\(document_damaged\)\n$/);
    const missing = await running.cli(['ocr', join(folder, 'no.pdf')]);
    expect(missing.code).toBe(1);
    const range = await running.cli(['ocr', '--pages', '7', SAMPLE]);
    expect([range.code, range.stderr]).toEqual([2, expect.stringContaining('page_out_of_range')]);
    rmSync(folder, { recursive: true });
  });

  test('several_files_are_written_to_a_folder_in_the_format_asked_for', async () => {
    const out = mkdtempSync(join(tmpdir(), 'pf-out-'));
    const read = await running.cli(['ocr', '--out', out, '--format', 'json', '--pages', '2', SAMPLE]);
    expect([read.code, read.stdout]).toEqual([0, '']);
    const answer = JSON.parse(readFileSync(join(out, 'scan.pdf.json'), 'utf8'));
    expect(answer.pages).toMatchObject([{ index: 1, engine: expect.stringContaining('tesseract') }]);
    rmSync(out, { recursive: true });
  });

  test('an_unknown_path_and_a_wrong_method_answer_json_with_a_code', async () => {
    const unknown = await request(`${running.url}/v1/nothing`);
    expect([unknown.statusCode, (await unknown.body.json()) as object]).toMatchObject([
      404,
      { code: 'not_found' },
    ]);
    const wrong = await request(`${running.url}/v1/ocr`);
    expect([wrong.statusCode, (await wrong.body.json()) as object]).toMatchObject([
      405,
      { code: 'method_not_allowed' },
    ]);
  });

  test('secrets_are_private_and_the_state_directory_is_closed', () => {
    const paths = clusterPaths(running.stateDir);
    expect(statSync(running.stateDir).mode & 0o777).toBe(0o700);
    for (const file of [
      paths.secretFile,
      paths.operatorTokenFile,
      paths.natsCredentialsFile,
      paths.clusterFile,
    ]) {
      expect(statSync(file).mode & 0o777, file).toBe(0o600);
    }
  });

  test('a_misspelt_setting_is_named_with_its_place_and_what_was_meant', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pf-conf-'));
    writeFileSync(join(folder, 'pagefleet.yaml'), 'listen:\n  prot: 8080\nworkers: many\n');
    const checked = await runCli(['config', 'check'], { cwd: folder });
    expect(checked.code).toBe(1);
    expect(checked.stderr).toMatch(/listen\.prot: .*pagefleet\.yaml line 2/);
    expect(checked.stderr).toMatch(/workers: got "many"/);
    expect(checked.stderr).toMatch(/2 problems/);
    rmSync(folder, { recursive: true });
  });
});

describe('npm start', () => {
  test('reads_the_sample_prints_the_curl_line_and_leaves_nothing_running_after_ctrl_c', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pf-start-'));
    const [port = 0] = await freePorts(1);
    const start = spawn('node', [join(repoRoot(), 'scripts/start.mjs')], {
      cwd: repoRoot(),
      env: { ...process.env, PAGEFLEET_STATE_DIR: folder, PAGEFLEET_LISTEN_PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [start.stdout, start.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
      });
    }
    const ended = new Promise<number | null>((resolve) => start.once('close', resolve));
    await expect.poll(() => output, { timeout: 120_000, interval: 200 }).toContain('Ctrl-C ends the cluster');
    expect(output).toContain('32 Track MIDI Sequence Recorder');
    expect(output).toContain(
      `curl --data-binary @docs/sample/scan.pdf -H 'Accept: text/plain' http://127.0.0.1:${port}/v1/ocr`,
    );
    const { pid: session } = JSON.parse(readFileSync(clusterPaths(folder).groupFile, 'utf8')) as {
      pid: number;
    };
    start.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(existsSync(`/proc/${session}/cwd`)).toBe(false);
    expect(output).toMatch(/pods ended/);
    rmSync(folder, { recursive: true, force: true });
  });
});
