import type { Readable } from 'node:stream';
import type { EngineState, ModelPath, PageOptions, PageResult, ProfileName } from '@pagefleet/contract';
import type { ReadingEvents, ReadingSettings } from './vlm/vlm-reader.ts';

export type PageKind = 'pdf' | 'png' | 'jpeg' | 'tiff' | 'webp';

export interface PageInput {
  readonly bytes: Uint8Array;
  readonly kind: PageKind;
  readonly options: PageOptions;
  /** Ends the reading; `read` then rejects once nothing runs for this page any more. */
  readonly signal: AbortSignal;
  /** heard where the engine asks a model server */
  readonly events?: ReadingEvents;
}

/** A request to a model server, passed on as it came. */
export interface ModelRequest {
  readonly path: ModelPath;
  readonly contentType: string;
  readonly body: Uint8Array;
  /** Closes the connection, and with it ends the generation. */
  readonly signal: AbortSignal;
}

/** Whatever the model server says, refusals included. The body fails when the server dies in the middle of it. */
export interface ModelAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
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
  /**
   * Passes a request on to the model server, which takes one slot until the body of the answer is over. Rejects as `read`.
   * Absent where the engine has no model server.
   */
  forward?(request: ModelRequest): Promise<ModelAnswer>;
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

export interface ServerEngineSettings {
  readonly kind: ProfileName;
  readonly width: number;
  /** program and arguments of the model server; host and port are added */
  readonly command: readonly string[];
  /** `NAME=value`, for the model server alone */
  readonly env: readonly string[];
  /** A server that is not ready by then is stopped and counts as dead. */
  readonly startMs: number;
  /** where the pid of the server is noted; null: nowhere */
  readonly recordFile: string | null;
  /** PDF pages are drawn at this density; 0: the profile's */
  readonly dpi: number;
  readonly maxPixels: number;
  /** see `readPrompt` */
  readonly promptFolder: string;
  /** how pages are read; the rest is known once the server runs */
  readonly reading: Omit<ReadingSettings, 'profile' | 'prompt' | 'maxModelLen'>;
}

/** What an engine with a model server tells of itself. */
export interface ServerEngineHooks {
  /** fields of a log line */
  readonly onEvent: (event: { readonly event: string } & Record<string, unknown>) => void;
  /** everything that the model server prints */
  readonly onOutput: (chunk: string) => void;
}

export type EngineSettings = TesseractSettings | SleepSettings | ServerEngineSettings;
