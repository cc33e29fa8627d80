import { sha256 } from './hash.ts';
import { type KnownPage, type RecognisedPage, recognise } from './known-pages.ts';
import { loadSharp } from './load-sharp.ts';
import { hashPicture } from './picture-hash.ts';
import { badRequest } from './refusal.ts';

/** What a record keeps of a picture. */
export interface SentPicture {
  readonly sha256: string;
  /** as its first bytes say, whatever the URL claims: `png`, `jpeg`, … */
  readonly format: string;
  /** pixels */
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
}

export interface ReadPicture {
  readonly sent: SentPicture;
  readonly bytes: Uint8Array;
}

export interface Pictures {
  /** Takes a data URL. Throws a refusal for what is no picture. */
  read(url: string): Promise<ReadPicture>;
  recognise(picture: ReadPicture, pages: readonly KnownPage[]): Promise<RecognisedPage | null>;
}

type Hashes = Awaited<ReturnType<typeof hashPicture>>;
/** A page that is tried again is the same picture. */
const REMEMBERED = 1_000;
/** The models cut a picture into fields of so many pixels a side; each is a token (contract 3.3). */
const FIELD = 28;

export function createPictures(): Pictures {
  const hashes = new Map<string, Hashes>();
  return {
    async read(url) {
      const data = /^data:image\/[\w.+-]+;base64,/.exec(url.slice(0, 100));
      if (data === null)
        throw badRequest('The simulated vLLM fetches nothing: expected a data URL of a picture in base64.');
      const bytes = Buffer.from(url.slice(data[0].length), 'base64');
      const { format, width, height } = await factsOf(bytes);
      return { sent: { sha256: sha256(bytes), format, width, height, bytes: bytes.length }, bytes };
    },
    async recognise({ sent, bytes }, pages) {
      if (pages.length === 0) return null;
      const known = hashes.get(sent.sha256) ?? (await hashOf(bytes));
      hashes.set(sent.sha256, known);
      if (hashes.size > REMEMBERED) hashes.delete(hashes.keys().next().value ?? '');
      return recognise(known, pages);
    },
  };
}

/** Tokens that a picture takes of the context. */
export function tokensOf({ width, height }: SentPicture): number {
  return Math.ceil((width * height) / (FIELD * FIELD));
}

async function factsOf(bytes: Uint8Array): Promise<Pick<SentPicture, 'format' | 'width' | 'height'>> {
  const sharp = await loadSharp();
  const { format, width, height } = await sharp(bytes, { limitInputPixels: false })
    .metadata()
    .catch((cause: unknown) => {
      throw badRequest(`cannot identify image file: ${cause instanceof Error ? cause.message : ''}`);
    });
  return { format, width, height };
}

async function hashOf(bytes: Uint8Array): Promise<Hashes> {
  try {
    return await hashPicture(bytes);
  } catch (cause) {
    throw badRequest(`cannot decode image file: ${cause instanceof Error ? cause.message : ''}`);
  }
}
