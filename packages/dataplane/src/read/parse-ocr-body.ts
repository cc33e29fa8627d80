import { OcrRequest, PagefleetError } from '@pagefleet/contract';
import { Compile } from 'typebox/compile';
import { decodeDataUrl, isDataUrl } from './data-url.ts';
import { explainInvalid } from './explain-invalid.ts';
import { type OcrOptions, optionsOfRequest } from './ocr-options.ts';

/** One document of a JSON body; where it lies is not fetched yet. */
export interface ParsedDocument {
  readonly name: string | null;
  readonly options: OcrOptions;
  readonly source:
    | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
    | { readonly kind: 'url'; readonly url: string };
}

export type ParsedItem = { readonly document: ParsedDocument } | { readonly error: PagefleetError };

const validator = Compile(OcrRequest);

/** Runs in a thread for large bodies: it parses and decodes without yielding. */
export function parseOcrBody(text: string): ParsedItem[] {
  return [{ document: parseDocument(parseJson(text)) }];
}

/** `{documents: [OcrRequest, …]}`; one bad document is an item of its own, not the end of the others. */
export function parseBatchBody(text: string, maxDocuments: number): ParsedItem[] {
  const body = parseJson(text);
  const documents = isRecord(body) ? body.documents : undefined;
  if (!Array.isArray(documents) || documents.length === 0) {
    throw new PagefleetError('bad_request', 'expected {"documents": [...]} with at least one document', {
      details: { param: 'documents' },
    });
  }
  if (documents.length > maxDocuments) {
    throw new PagefleetError(
      'bad_request',
      `the batch has ${documents.length} documents; the limit is ${maxDocuments}`,
      {
        details: { param: 'documents', max_documents: maxDocuments },
      },
    );
  }
  return documents.map((item: unknown) => {
    try {
      return { document: parseDocument(item) };
    } catch (cause) {
      if (cause instanceof PagefleetError) return { error: cause };
      throw cause;
    }
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PagefleetError('bad_request', 'the body looks like JSON but cannot be parsed', { cause });
  }
}

function parseDocument(body: unknown): ParsedDocument {
  if (!validator.Check(body)) {
    const { param, message } = explainInvalid(body, validator.Errors(body));
    throw new PagefleetError('bad_request', message, { details: { param } });
  }
  const { document } = body;
  if (document.type === 'file') {
    throw new PagefleetError(
      'unsupported',
      'documents by file_id are not supported yet; send a data URL or the file itself',
      {
        details: { param: 'document.file_id' },
      },
    );
  }
  const url = document.type === 'document_url' ? document.document_url : imageUrl(document.image_url);
  const name = document.type === 'document_url' ? (document.document_name ?? null) : null;
  return {
    name: body.id ?? name,
    options: optionsOfRequest(body),
    source: isDataUrl(url) ? { kind: 'bytes', bytes: decodeDataUrl(url) } : { kind: 'url', url },
  };
}

function imageUrl(image: string | { url: string }): string {
  return typeof image === 'string' ? image : image.url;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
