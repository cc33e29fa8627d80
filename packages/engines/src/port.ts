import type { EngineState, PageOptions, PageResult } from '@pagefleet/contract';

export type PageKind = 'pdf' | 'png' | 'jpeg' | 'tiff' | 'webp';

export interface PageInput {
  readonly bytes: Uint8Array;
  readonly kind: PageKind;
  readonly options: PageOptions;
  /** Ends the reading; `read` then rejects once nothing runs for this page any more. */
  readonly signal: AbortSignal;
}

/**
 * What reads pages inside a pod. `read` rejects with a `PagefleetError` only: `page_unreadable`, `page_too_large`,
 * `document_*`, `bad_request` (a language that is not installed), `engine_failed`; on abort with the signal's reason if
 * that is a `PagefleetError`, else `client_gone`.
 */
export interface Engine {
  readonly name: string;
  /** `unknown` until the engine has started once. */
  readonly version: string;
  /** Resolves when ready. Starts at most one engine however often it is called (law L16). */
  start(): Promise<void>;
  /** Never blocks. `busy` = every slot of the width reads a page; it is alive all the same. */
  state(): EngineState;
  /** Waits for a running start, starts nothing by itself. At most `width` pages are read at once; others wait in order. */
  read(page: PageInput): Promise<PageResult>;
  /** Ends every reading and whatever the engine started. */
  close(): Promise<void>;
}

export interface TesseractSettings {
  readonly kind: 'tesseract';
  readonly width: number;
  /** Used when a request names none; empty = `eng`. Each more makes every page slower. */
  readonly languages: readonly string[];
  /** PDF pages are drawn at this density. */
  readonly dpi: number;
  readonly pageTimeoutMs: number;
  /** `auto` = the program when it is on PATH, else the npm package. */
  readonly implementation: 'auto' | 'cli' | 'js';
  /** Larger pages are drawn smaller. */
  readonly maxPixels: number;
}

export interface SleepSettings {
  readonly kind: 'sleep';
  readonly width: number;
  readonly sleepMs: number;
  /** Up to this much is added, always the same for the same bytes. */
  readonly jitterMs?: number;
}

export type EngineSettings = TesseractSettings | SleepSettings;
