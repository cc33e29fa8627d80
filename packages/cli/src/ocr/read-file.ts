import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { basename, join } from 'node:path';
import type { Client } from '@pagefleet/client';
import { PagefleetError } from '@pagefleet/contract';
import { makeFolder } from '@pagefleet/runtime';
import { fileSize } from './file-size.ts';
import { createFormatter, FILE_EXTENSIONS, type OcrFormat } from './format-pages.ts';
import { readPagesInOrder } from './pages-in-order.ts';
import { createProgress } from './progress.ts';

export interface ReadFileOptions {
  readonly format: OcrFormat;
  /** null = stdout */
  readonly outDir: string | null;
  /** as the endpoint counts, from 0 */
  readonly pages: string | null;
  readonly languages: readonly string[];
  readonly model: string | null;
  readonly signal: AbortSignal;
}

/** How a file ended: 0 all read, 2 some pages failed. Throws when it could not be read at all. */
export async function readFileByCluster(
  client: Client,
  path: string,
  options: ReadFileOptions,
): Promise<number> {
  const size = fileSize(path);
  const name = basename(path);
  const progress = createProgress(name, process.stderr, () => performance.now());
  const formatter = createFormatter(options.format, name);
  const out = openOutput(name, options);
  const failures: string[] = [];
  const lines = client.readDocument({
    body: () => createReadStream(path),
    contentLength: size,
    signal: options.signal,
    languages: options.languages,
    ...(options.pages === null ? {} : { pages: options.pages }),
    ...(options.model === null ? {} : { model: options.model }),
    onWait: ({ message }, waitMs) =>
      progress.note(`${message.replace(/\.$/, '')} (again in ${Math.ceil(waitMs / 1_000)} s)`),
  });
  try {
    const pages = readPagesInOrder(lines, (page) => progress.page(page.of, page.error !== undefined));
    for await (const page of pages) {
      progress.clear();
      if (page.error) failures.push(`page ${page.index + 1}: ${page.error.message} (${page.error.code})`);
      await out.write(formatter.page(page));
    }
    await out.write(formatter.end());
  } finally {
    progress.clear();
    await out.close();
  }
  for (const failure of failures) console.error(`${name}: ${failure}`);
  return failures.length === 0 ? 0 : 2;
}

interface Output {
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

function openOutput(name: string, { outDir, format }: ReadFileOptions): Output {
  const isStdout = outDir === null;
  if (!isStdout) makeOutDir(outDir);
  const stream = isStdout
    ? process.stdout
    : createWriteStream(join(outDir, `${name}.${FILE_EXTENSIONS[format]}`), { mode: 0o644 });
  return {
    async write(text) {
      if (text !== '' && !stream.write(text)) await once(stream, 'drain');
    },
    async close() {
      if (isStdout) return;
      stream.end();
      await once(stream, 'close');
    },
  };
}

function makeOutDir(folder: string): void {
  try {
    makeFolder(folder);
  } catch (cause) {
    throw new PagefleetError('bad_request', `--out ${folder} cannot be made: ${(cause as Error).message}`, {
      cause,
    });
  }
}
