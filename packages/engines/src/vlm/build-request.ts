import { randomUUID } from 'node:crypto';
import type { EngineProfile } from '@pagefleet/contract';
import type { Ask } from './decide-attempt.ts';

export interface SentPicture {
  /** as it stands in a request, in ASCII: made in the thread that drew it, so that no loop is held up */
  readonly base64: Uint8Array;
  readonly mime: 'image/png' | 'image/jpeg';
}

export interface RequestParts {
  readonly profile: EngineProfile;
  readonly prompt: string;
  readonly picture: SentPicture;
  readonly ask: Ask;
  /** tokens of the reply */
  readonly maxTokens: number;
  /** token probabilities are wanted whatever the profile says */
  readonly trace: boolean;
  readonly reply: 'streamed' | 'whole';
}

/** Stands for the picture while the rest is written: as a string it would cost the loop more than all else of a page. */
const PICTURE = randomUUID();

/** One chat completion as the engine's own client would ask for it (contract 3.1 to 3.3), as JSON. */
export function buildRequest(parts: RequestParts): Uint8Array {
  const [before = '', after = ''] = JSON.stringify(requestOf(parts)).split(PICTURE);
  return Buffer.concat([Buffer.from(before), parts.picture.base64, Buffer.from(after)]);
}

function requestOf(parts: RequestParts): object {
  const { profile, prompt, picture, ask, maxTokens, trace, reply } = parts;
  const { pictureFirst, logprobs } = profile.request;
  const url = `data:${picture.mime};base64,${PICTURE}`;
  const image = { type: 'image_url', image_url: { url } };
  const text = { type: 'text', text: prompt };
  const messages: object[] = [{ role: 'user', content: pictureFirst ? [image, text] : [text, image] }];
  // vLLM's own extension: the reply goes on where the last one was cut.
  const goesOn = ask.prefix === null ? {} : { add_generation_prompt: false, continue_final_message: true };
  if (ask.prefix !== null) messages.push({ role: 'assistant', content: ask.prefix });
  return {
    model: profile.servedName,
    messages,
    max_tokens: maxTokens,
    temperature: ask.temperature,
    ...(ask.topP === null ? {} : { top_p: ask.topP }),
    ...(logprobs || trace ? { logprobs: true } : {}),
    ...goesOn,
    ...(reply === 'streamed' ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}
