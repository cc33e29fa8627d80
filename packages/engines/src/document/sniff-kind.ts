import type { PageKind } from '../port.ts';

/** Readers accept a PDF whose header starts late: mail gateways and scanners put lines before it. */
const PDF_HEADER_WITHIN_BYTES = 1024;

/** What the bytes are, by content alone. `head` is the start of the file; 2 KiB are enough. */
export function sniffKind(head: Uint8Array): PageKind | null {
  const view = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  if (startsWith(view, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'png';
  if (startsWith(view, [0xff, 0xd8, 0xff])) return 'jpeg';
  if (isTiff(view)) return 'tiff';
  if (view.toString('latin1', 0, 4) === 'RIFF' && view.toString('latin1', 8, 12) === 'WEBP') return 'webp';
  const at = view.indexOf('%PDF');
  return at >= 0 && at < PDF_HEADER_WITHIN_BYTES ? 'pdf' : null;
}

/** 42 = TIFF, 43 = BigTIFF, in the byte order that the first two letters tell. */
function isTiff(view: Buffer): boolean {
  if (view.length < 8) return false;
  const order = view.toString('latin1', 0, 2);
  if (order === 'II') return view.readUInt16LE(2) === 42 || view.readUInt16LE(2) === 43;
  if (order === 'MM') return view.readUInt16BE(2) === 42 || view.readUInt16BE(2) === 43;
  return false;
}

function startsWith(view: Buffer, magic: readonly number[]): boolean {
  return magic.every((byte, index) => view[index] === byte);
}
