import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { PagefleetError } from '@pagefleet/contract';
import type { BodySink, BodyStore } from './body-store.ts';
import type { HeldBytes } from './held-bytes.ts';
import { pumpBody } from './pump-body.ts';

interface FormFile {
  readonly name: string | null;
  readonly bytes: HeldBytes;
}

export interface Form {
  readonly files: readonly FormFile[];
  readonly fields: readonly (readonly [string, string])[];
}

export interface FormReader {
  /** Feeds it; a promise makes the sender wait. */
  write(chunk: Buffer): Promise<void> | undefined;
  finish(): Promise<Form>;
  /** Gives back every byte held so far; does nothing after `finish`. */
  abandon(): void;
}

export interface FormOptions {
  readonly store: BodyStore;
  readonly maxFiles: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

const MAX_FIELD_BYTES = 64 * 1024;
const MAX_FIELDS = 64;
const FILE_FIELD = 'file';

/** Reads `multipart/form-data`: parts named `file` go to the store, the others are options. */
export function createFormReader(headers: IncomingMessage['headers'], options: FormOptions): FormReader {
  const { store } = options;
  const fields: [string, string][] = [];
  const files: Promise<FormFile>[] = [];
  const sinks: BodySink[] = [];
  let over = false;
  let failure: unknown = null;
  let wake: (() => void) | null = null;

  const parser = createParser(headers, options.maxFiles);
  const finished = new Promise<void>((resolve) => {
    parser.on('finish', resolve);
    wake = resolve;
  });

  function fail(cause: unknown): void {
    failure ??= cause;
    wake?.();
  }

  parser.on('file', (field, stream, filename) => {
    // A stream without this listener would end the process when the body breaks off inside the part.
    stream.on('error', () => fail(brokenForm()));
    if (field !== FILE_FIELD) {
      stream.resume();
      fail(unexpectedFile(field));
      return;
    }
    const sink = store.sink(options.maxBytes);
    sinks.push(sink);
    const held = pumpBody(stream, (chunk) => sink.write(chunk), options.signal).then(() => sink.finish());
    held.catch((cause) => {
      stream.resume();
      fail(cause);
    });
    files.push(held.then((bytes) => ({ name: filename || null, bytes })));
    files.at(-1)?.catch(() => undefined);
  });
  parser.on('field', (name, value, nameTruncated, valueTruncated) => {
    if (nameTruncated || valueTruncated)
      fail(new PagefleetError('bad_request', `the field "${name}" is too long`));
    fields.push([name, value]);
  });
  parser.on('fieldsLimit', () =>
    fail(new PagefleetError('bad_request', `the form has more than ${MAX_FIELDS} fields`)),
  );
  parser.on('filesLimit', () => fail(tooManyFiles(options.maxFiles)));
  parser.on('error', (cause) => fail(brokenForm(cause)));

  return {
    write(chunk) {
      if (failure !== null) return Promise.reject(failure);
      if (parser.write(chunk)) return undefined;
      return new Promise((resolve, reject) => {
        parser.once('drain', () => (failure === null ? resolve() : reject(failure)));
        void finished.then(() => (failure === null ? resolve() : reject(failure)));
      });
    },
    async finish() {
      parser.end();
      await finished;
      if (failure !== null) throw failure;
      const complete = await Promise.all(files);
      over = true;
      return { files: complete, fields };
    },
    abandon() {
      if (over) return;
      over = true;
      fail(new PagefleetError('client_gone', 'the form was given up'));
      for (const sink of sinks) sink.abandon();
      for (const file of files) file.then(({ bytes }) => bytes.release()).catch(() => undefined);
      parser.destroy();
    },
  };
}

function createParser(headers: IncomingMessage['headers'], maxFiles: number): BusboyInstance {
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
      // A part without a filename that is called "file" is a file all the same: some clients send it so.
      isPartAFile: (field, type, filename) =>
        filename !== undefined || type === 'application/octet-stream' || field === FILE_FIELD,
      limits: {
        files: maxFiles,
        fields: MAX_FIELDS,
        fieldSize: MAX_FIELD_BYTES,
        headerPairs: 64,
        headerSize: 16_384,
      },
    });
  } catch (cause) {
    throw brokenForm(cause);
  }
}

function brokenForm(cause?: unknown): PagefleetError {
  return new PagefleetError('bad_request', 'the multipart body is broken or ends early', { cause });
}

function unexpectedFile(field: string | undefined): PagefleetError {
  return new PagefleetError(
    'bad_request',
    `unexpected file part "${field ?? ''}"; the document goes into "${FILE_FIELD}"`,
    {
      details: { param: field ?? '' },
    },
  );
}

function tooManyFiles(maxFiles: number): PagefleetError {
  const hint = maxFiles === 1 ? 'send several documents to /v1/ocr/batch' : `the limit is ${maxFiles}`;
  return new PagefleetError('bad_request', `the form holds more documents than fit here; ${hint}`, {
    details: { param: FILE_FIELD },
  });
}
