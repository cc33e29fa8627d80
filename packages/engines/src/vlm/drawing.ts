import type { PageKind } from '../port.ts';
import type { SentPicture } from './build-request.ts';

export interface DrawnSize {
  readonly width: number;
  readonly height: number;
  /** of the page as drawn; 72 where nothing says how large the paper is */
  readonly dpi: number;
}

export interface DrawnPicture extends SentPicture, DrawnSize {}

/** A page that is fetched when its picture is drawn, and once more for every further try: nothing holds it in between. */
export interface PageToRead {
  load(): Promise<Uint8Array>;
  readonly kind: PageKind;
  /** Ends the reading. */
  readonly signal: AbortSignal;
}

/** Makes the picture of a page that an engine gets. */
export interface Drawing {
  /** turned clockwise by `rotation` degrees */
  draw(page: PageToRead, rotation: 0 | 90 | 180 | 270): Promise<DrawnPicture>;
}
