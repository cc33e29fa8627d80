import { createClient } from '@pagefleet/client';
import { ERRORS, PagefleetError } from '@pagefleet/contract';
import { clusterPaths } from '@pagefleet/runtime';
import { endpointUrl } from '../cluster/endpoint.ts';
import { type ConfigOptions, findStateDir } from '../cluster/environment.ts';
import { readClusterFile } from '../cluster/read-cluster-file.ts';
import { fileSize } from '../ocr/file-size.ts';
import { OCR_FORMATS, type OcrFormat } from '../ocr/format-pages.ts';
import { parsePages } from '../ocr/parse-pages.ts';
import { readFileByCluster } from '../ocr/read-file.ts';
import { watchInterrupts } from '../terminal/interrupts.ts';
import { printError } from '../terminal/print-error.ts';

interface OcrCommandOptions extends ConfigOptions {
  readonly url?: string;
  readonly out?: string;
  readonly format: string;
  readonly pages?: string;
  readonly lang?: string;
  readonly model?: string;
}

/** 0 = every page of every file was read, 2 = a document or some of its pages are at fault, 1 = anything else. */
export async function ocr(files: readonly string[], options: OcrCommandOptions): Promise<number> {
  const asked = {
    format: parseFormat(options.format),
    outDir: options.out ?? null,
    pages: options.pages === undefined ? null : parsePages(options.pages),
    languages: options.lang?.split(/[,+]/).filter(Boolean) ?? [],
    model: options.model ?? null,
    url: parseUrl(options.url ?? process.env.PAGEFLEET_URL),
  };
  const codes: number[] = [];
  const readable = files.filter((file) => isReadable(file, codes));
  if (readable.length === 0) return 1;
  const { first } = watchInterrupts();
  const token = process.env.PAGEFLEET_API_KEY;
  const client = createClient({ url: asked.url ?? findUrl(options), ...(token ? { token } : {}) });
  const read = { ...asked, signal: first };
  try {
    for (const file of readable) {
      codes.push(
        await readFileByCluster(client, file, read).catch((error: unknown) =>
          report(file, countFromOne(error, options.pages)),
        ),
      );
      if (first.aborted) return ERRORS.interrupted.exitCode;
    }
  } finally {
    await client.close();
  }
  return codes.includes(1) ? 1 : Math.max(0, ...codes);
}

/** What cannot be read is told before the first page is, and keeps no other file back. */
function isReadable(file: string, codes: number[]): boolean {
  try {
    fileSize(file);
    return true;
  } catch (error) {
    codes.push(report(file, error));
    return false;
  }
}

/** The endpoint counts pages from 0, and says so; here they were asked for from 1. */
function countFromOne(error: unknown, pages: string | undefined): unknown {
  if (!(error instanceof PagefleetError) || error.code !== 'page_out_of_range') return error;
  const { page, pages: count } = error.details;
  const isKnown = typeof page === 'number' && typeof count === 'number';
  const why = isKnown
    ? `there is no page ${page + 1}; the document has ${count}, counted from 1`
    : 'the document has no such page, counted from 1';
  return new PagefleetError(error.code, `--pages is "${pages}": ${why}`, { cause: error });
}

const WHAT_TO_DO =
  'Is the cluster up? `pagefleet up` starts one here, `pagefleet status` shows it, --url or PAGEFLEET_URL names another.';

function report(file: string, error: unknown): number {
  if (!(error instanceof PagefleetError) || error.message.includes(file)) return printError(error);
  const hint = error.code === 'unreachable' ? ` ${WHAT_TO_DO}` : '';
  return printError(new PagefleetError(error.code, `${file}: ${error.message} (${error.code})${hint}`));
}

function parseUrl(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, '');
  throw new PagefleetError(
    'bad_request',
    `--url is "${text}"; expected an address such as http://127.0.0.1:8080`,
  );
}

function findUrl(options: OcrCommandOptions): string {
  const cluster = readClusterFile(clusterPaths(findStateDir(options)));
  if (cluster) return endpointUrl(cluster);
  throw new PagefleetError(
    'not_found',
    'No cluster was brought up here. Start one with `pagefleet up`, or name an endpoint with --url.',
  );
}

function parseFormat(text: string): OcrFormat {
  const format = OCR_FORMATS.find((name) => name === text);
  if (format) return format;
  throw new PagefleetError('bad_request', `--format is "${text}"; expected ${OCR_FORMATS.join(', ')}`);
}
