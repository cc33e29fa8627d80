import type { PageResult } from '@pagefleet/contract';
import type { Picture } from '../document/draw-picture.ts';
import type { Reading } from './parse-tsv.ts';

export type Rotation = PageResult['rotation'];

/** What the two builds of Tesseract have in common. Calls that are aborted settle once nothing runs any more. */
export interface Recogniser {
  readonly name: string;
  version(): string;
  open(): Promise<void>;
  /** Installed languages; known after `open`. */
  languages(): readonly string[];
  recognise(picture: Picture, languages: readonly string[], signal: AbortSignal): Promise<Reading>;
  /** Degrees clockwise that bring the picture upright; null when too little is on it to tell. */
  detectRotation(picture: Picture, signal: AbortSignal): Promise<Rotation | null>;
  close(): Promise<void>;
}

export function isRotation(degrees: number): degrees is Rotation {
  return degrees === 0 || degrees === 90 || degrees === 180 || degrees === 270;
}
