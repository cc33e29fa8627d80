import { PagefleetError } from '@pagefleet/contract';

export function isDataUrl(url: string): boolean {
  return /^data:/i.test(url);
}

/** The bytes of `data:<type>;base64,<data>`. The type it names is not looked at: content decides. */
export function decodeDataUrl(url: string): Uint8Array {
  const comma = url.indexOf(',');
  if (comma < 0) throw invalid('the data URL has no comma before its data');
  const isBase64 = /;\s*base64\s*$/i.test(url.slice(0, comma));
  const data = url.slice(comma + 1);
  // A Buffer of a shared slab must not be transferred to another thread, so the bytes get memory of their own.
  const decoded = isBase64 ? Buffer.from(data, 'base64') : decodePercent(data);
  if (decoded.length === 0) throw new PagefleetError('empty_body', 'the data URL holds no document');
  return decoded.buffer.byteLength === decoded.length ? decoded : new Uint8Array(decoded);
}

function decodePercent(data: string): Buffer {
  const bytes = data.replace(/%([0-9a-f]{2})/gi, (_match, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1');
}

function invalid(message: string): PagefleetError {
  return new PagefleetError('bad_request', message, { details: { param: 'document' } });
}
