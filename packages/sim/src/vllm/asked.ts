import type { RecognisedPage } from './known-pages.ts';
import type { SentPicture } from './pictures.ts';

export type CompletionPath = '/v1/chat/completions' | '/v1/completions';

/** A request for a completion as it was understood, chat or plain. */
export interface Asked {
  readonly path: CompletionPath;
  readonly model: string;
  /** all text of the prompt, one message a line */
  readonly promptText: string;
  /** of the last message of the user */
  readonly lastText: string;
  /** the beginning of the reply that it has to go on with; empty: none */
  readonly prefix: string;
  readonly promptTokens: number;
  readonly maxTokens: number;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** null: none wanted; otherwise so many alternatives beside each token */
  readonly topLogprobs: number | null;
  readonly stop: readonly string[];
  readonly ignoreEos: boolean;
  readonly pictures: readonly SentPicture[];
  /** of the first picture */
  readonly page: RecognisedPage | null;
  /** the request as JSON, pictures replaced by what is told of them */
  readonly body: unknown;
  /** of the whole request, pictures included */
  readonly hash: string;
}
