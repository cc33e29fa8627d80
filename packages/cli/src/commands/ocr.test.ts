import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ocr } from './ocr.ts';

let folder: string;
let file: string;
let printed: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pf-ocr-'));
  file = join(folder, 'a.pdf');
  writeFileSync(file, '%PDF-');
  printed = [];
  vi.spyOn(console, 'error').mockImplementation((line: string) => void printed.push(line));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** A state directory on which no cluster ever was. */
const run = (options: Partial<Parameters<typeof ocr>[1]>, files = [file]) =>
  ocr(files, { format: 'text', state: folder, ...options });

describe('pagefleet ocr', () => {
  test.each([
    [{ format: 'docx' }, '--format is "docx"'],
    [{ pages: '0' }, '--pages is "0"'],
    [{ url: 'localhost:8080' }, '--url is "localhost:8080"'],
  ])('checks_its_arguments_before_it_looks_for_a_cluster: %j', async (options, message) => {
    await expect(run(options)).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining(message),
    });
  });

  test('a_file_that_is_not_there_is_told_before_it_looks_for_a_cluster', async () => {
    const absent = join(folder, 'absent.pdf');
    expect(await run({}, [absent, folder])).toBe(1);
    expect(printed).toEqual([
      expect.stringContaining(`${absent} cannot be read`),
      expect.stringContaining(`${folder} is no file`),
    ]);
  });

  test('without_a_cluster_it_says_how_to_get_one', async () => {
    await expect(run({})).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('`pagefleet up`'),
    });
  });

  test('an_address_where_nobody_answers_is_named_with_what_to_do', async () => {
    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    expect(await run({ url: `${url}/` })).toBe(1);
    expect(printed.join()).toContain(`Nothing answers at ${url}: the connection was refused.`);
    expect(printed.join()).toMatch(/unreachable.*`pagefleet up`.*--url/);
  });
});
