import type { Block } from '@pagefleet/contract';
import type { Picture } from '../vlm/html-blocks.ts';

/** What a reply says of a page. */
export type ParsedReply =
  | {
      readonly kind: 'page';
      readonly markdown: string;
      readonly text: string;
      /** boxes in pixels of the picture; null: the engine says no places */
      readonly blocks: readonly Block[] | null;
    }
  | { readonly kind: 'invalid'; readonly why: string }
  /** the picture has to be turned clockwise by so much to be read */
  | { readonly kind: 'turned'; readonly by: 90 | 180 | 270 };

/** Reads the replies of one engine. */
export type ParseReply = (reply: string, picture: Picture) => ParsedReply;
