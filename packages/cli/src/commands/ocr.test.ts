import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ocr } from './ocr.ts';

let folder: string;
let file: string;
let printed: string[];
const servers: Server[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pf-ocr-'));
  file = join(folder, 'a.pdf');
  writeFileSync(file, '%PDF-');
  printed = [];
  vi.spyOn(console, 'error').mockImplementation((line: string) => void printed.push(line));
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
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

  async function answering(status: number, body: object): Promise<string> {
    const server = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(status).end(JSON.stringify(body)));
    });
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test('a_page_that_is_not_there_is_told_as_it_was_asked_for_counted_from_1', async () => {
    const message = 'page 8 does not exist; the document has 2 pages, counted from 0';
    const url = await answering(400, { message, code: 'page_out_of_range', page: 8, pages: 2 });
    expect(await run({ url, pages: '9' })).toBe(2);
    expect(printed.join()).toContain(
      '--pages is "9": there is no page 9; the document has 2, counted from 1',
    );
    expect(printed.join()).not.toContain('page 8');
  });

  test.each(['unsupported_media_type', 'empty_body', 'payload_too_large', 'document_damaged'])(
    'a_document_that_could_not_be_read_is_2: %s',
    async (code) => {
      expect(await run({ url: await answering(400, { message: 'no', code }) })).toBe(2);
    },
  );

  test('an_address_where_nobody_answers_is_named_with_what_to_do', async () => {
    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    expect(await run({ url: `${url}/` })).toBe(1);
    expect(printed.join()).toContain(`Nothing answers at ${url}: the connection was refused.`);
    expect(printed.join()).toMatch(/unreachable.*`pagefleet up`.*--url/);
  });
});
