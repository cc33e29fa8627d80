import { readFile } from 'node:fs/promises';
import { type OpenedDocument, openDocument } from '@pagefleet/engines';
import { carryError } from '../carried-error.ts';
import type { SplitLine, SplitTask } from './split-messages.ts';

/** Runs in a thread or child process: opens one document and takes out the pages it is asked for, one at a time. */
export async function serveDocument(task: SplitTask, line: SplitLine): Promise<void> {
  const document = await open(task, line);
  if (!document) return;
  try {
    for (let ask = await line.next(); ask.kind === 'page'; ask = await line.next()) {
      try {
        const { kind, bytes } = await document.page(ask.index);
        line.answer({ kind: 'page', page: kind, bytes });
      } catch (cause) {
        line.answer({ kind: 'page_failed', error: carryError(cause) });
      }
    }
  } finally {
    document.close();
  }
}

async function open({ input, limits }: SplitTask, line: SplitLine): Promise<OpenedDocument | null> {
  try {
    const bytes = 'path' in input ? await readFile(input.path) : input.bytes;
    const document = await openDocument(bytes, limits);
    line.answer({ kind: 'opened', pageCount: document.pageCount });
    return document;
  } catch (cause) {
    line.answer({ kind: 'refused', error: carryError(cause) });
    return null;
  }
}
