import { constants, type FileHandle, open } from 'node:fs/promises';
import { PagefleetError } from '@pagefleet/contract';

/** Prompts are a page of text at most; a file far above that is another file. */
const MAX_PROMPT_BYTES = 64 * 1024;

/**
 * The text of the first of these files that is there, without the space around it. Rejects with `config_invalid`: none is
 * there, or the one that is cannot be a prompt.
 */
export async function readPromptFile(places: readonly string[]): Promise<string> {
  for (const place of places) {
    const file = await openFile(place);
    if (file === null) continue;
    try {
      return await readText(file, place);
    } finally {
      await file.close();
    }
  }
  throw new PagefleetError('config_invalid', `expected the text of the prompt in ${places.join(' or ')}`);
}

/** Null: nothing is there. A pipe would never end, so it is not waited for. */
async function openFile(place: string): Promise<FileHandle | null> {
  try {
    return await open(place, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new PagefleetError('config_invalid', `the prompt in ${place} cannot be read (${code})`, { cause });
  }
}

async function readText(file: FileHandle, place: string): Promise<string> {
  const found = await file.stat();
  if (!found.isFile()) throw unfit(place, 'it is no file');
  if (found.size > MAX_PROMPT_BYTES)
    throw unfit(place, `it has ${found.size} bytes, of ${MAX_PROMPT_BYTES} at most`);
  const text = decode(await file.readFile(), place).trim();
  if (text === '') throw unfit(place, 'it is empty');
  return text;
}

function decode(bytes: Buffer, place: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\u0000')) return text;
  } catch {
    // Said below, in the same words as for zero bytes.
  }
  throw unfit(place, 'it is no text in UTF-8');
}

function unfit(place: string, why: string): PagefleetError {
  return new PagefleetError('config_invalid', `the prompt in ${place} cannot be used: ${why}`);
}
