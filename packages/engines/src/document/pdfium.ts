import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { init, type WrappedPdfiumModule } from '@embedpdf/pdfium';

/** WASM memory grows and never shrinks, so an instance that has grown past this takes no further document. */
const RECYCLE_ABOVE_BYTES = 256 * 1024 * 1024;

/**
 * A stream of two kilobytes may unpack to gigabytes. Beyond this, and some copies of the document itself, an allocation
 * fails and with it the page; the module alone would go on to 2 GB, in every thread.
 */
const HEAP_MAX_BYTES = 768 * 1024 * 1024;
const COPIES_OF_DOCUMENT = 3;
const WASM_PAGE_BYTES = 65_536;

let current: Promise<WrappedPdfiumModule> | null = null;
let heapMaxBytes = HEAP_MAX_BYTES;
/** of instances that were left to the garbage collector, which may not come for long */
let abandonedBytes = 0;

/**
 * The pdfium of this thread. All calls into it are synchronous, so callers run in a worker thread. A grown or broken
 * instance is left to the garbage collector and replaced; documents still open keep the one they were opened with.
 */
export async function getPdfium(documentBytes = 0): Promise<WrappedPdfiumModule> {
  heapMaxBytes = HEAP_MAX_BYTES + COPIES_OF_DOCUMENT * documentBytes;
  if (current && hasGrown(await current)) await discardPdfium(await current);
  current ??= startPdfium();
  try {
    return await current;
  } catch (cause) {
    current = null;
    throw cause;
  }
}

/** After a trap inside the module (out of memory, stack overflow) its state is unknown: it serves nobody again. */
export async function discardPdfium(broken: WrappedPdfiumModule): Promise<void> {
  if (!current || (await current.catch(() => null)) !== broken) return;
  current = null;
  abandonedBytes += heapOf(broken).byteLength;
}

/** Grown so far that a document must have wanted it. */
export function hasGrown(pdfium: WrappedPdfiumModule): boolean {
  return heapOf(pdfium).byteLength > RECYCLE_ABOVE_BYTES;
}

/** The view is replaced whenever the memory grows: ask again after every call that may allocate. */
export function heapOf(pdfium: WrappedPdfiumModule): Uint8Array {
  // The package's types lean on a global that is declared for browsers only.
  return (pdfium.pdfium as unknown as { readonly HEAPU8: Uint8Array }).HEAPU8;
}

/**
 * Documents have grown the memory of this thread so far that the thread had better end: what it may still hold comes back for
 * certain only then.
 */
export async function hasHeldMuch(): Promise<boolean> {
  const pdfium = await current?.catch(() => null);
  return abandonedBytes + (pdfium ? heapOf(pdfium).byteLength : 0) > RECYCLE_ABOVE_BYTES;
}

async function startPdfium(): Promise<WrappedPdfiumModule> {
  const wasm = await readFile(createRequire(import.meta.url).resolve('@embedpdf/pdfium/pdfium.wasm'));
  const pdfium = await init({ wasmBinary: new Uint8Array(wasm).buffer });
  boundGrowth((pdfium.pdfium.wasmExports as unknown as { readonly memory: WasmMemory }).memory);
  pdfium.PDFiumExt_Init();
  return pdfium;
}

interface WasmMemory {
  readonly buffer: { readonly byteLength: number };
  grow(pages: number): number;
}

/** The module takes a growth that throws for memory that the machine does not have. */
function boundGrowth(memory: WasmMemory): void {
  const grow = memory.grow.bind(memory);
  memory.grow = (pages) => {
    if (memory.buffer.byteLength + pages * WASM_PAGE_BYTES > heapMaxBytes)
      throw new RangeError('the bound on the memory of a document is reached');
    return grow(pages);
  };
}
