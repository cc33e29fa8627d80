/** Engines that read pages with a vision-language model on a vLLM server. */
export const PROFILE_NAMES = ['surya', 'chandra', 'olmocr'] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

/**
 * What is known of one engine before a page is read: all of it data, so that whoever rents can write the launch arguments and
 * whoever reads can write the request. Where the reply is parsed is `engines/src/profiles/<name>.ts`.
 */
export interface EngineProfile {
  readonly name: ProfileName;
  /** the weights, as the model hub names them */
  readonly model: string;
  /** what the server calls the model, and what a request asks for */
  readonly servedName: string;
  readonly launch: LaunchProfile;
  readonly picture: PictureProfile;
  readonly request: RequestProfile;
  readonly retry: RetryProfile;
}

export interface LaunchProfile {
  readonly dtype: 'auto' | 'bfloat16';
  /** longest prompt and reply together, tokens */
  readonly maxModelLen: number;
  /** share of the card’s memory that the server may take */
  readonly gpuMemoryUtilization: number;
  /** tokens of one step; `per24Gb` grows with the card, to the power of two below; null: the server’s own choice */
  readonly maxBatchedTokens: { readonly fixed: number } | { readonly per24Gb: number } | null;
  /** handed to the server as they are */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** How a page is drawn for the engine. All limits hold at once; a null one does not. */
export interface PictureProfile {
  /** density at which PDF pages are drawn; null: `longestSide` decides */
  readonly dpi: number | null;
  /** pixels; the picture is drawn to exactly this */
  readonly longestSide: number | null;
  /** pixels of the whole picture; larger ones are scaled down */
  readonly maxArea: number | null;
  /** pixels; smaller PDF pages are drawn larger */
  readonly minShortSideOfPdf: number | null;
  /** pixels; smaller pictures are enlarged */
  readonly minShortSideOfImage: number | null;
}

export interface RequestProfile {
  readonly pictureFirst: boolean;
  /** longest reply, tokens */
  readonly maxTokens: number;
  readonly temperature: number;
  /** null: not sent */
  readonly topP: number | null;
  /** whether token probabilities are asked for; their mean is the confidence of the page */
  readonly logprobs: boolean;
}

export interface RetryProfile {
  /** tries after the first one */
  readonly retries: number;
  /** of the tries after the first, in order; the last one counts for all that follow */
  readonly temperatures: readonly number[];
  /** of the tries after the first; null: as in the first */
  readonly topP: number | null;
}
