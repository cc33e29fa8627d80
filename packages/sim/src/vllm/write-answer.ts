import type { Asked } from './asked.ts';
import type { Piece, ToolFragment } from './pieces.ts';
import { chatLogprobs, completionLogprobs } from './write-logprobs.ts';

/** How a reply ended. */
export interface Ending {
  /** the tokens that came with it */
  readonly lastPieces: readonly Piece[];
  readonly finishReason: string;
  readonly stopReason: string | null;
  readonly completionTokens: number;
}

export interface AnswerHead {
  readonly id: string;
  /** seconds since 1970 */
  readonly created: number;
  readonly asked: Asked;
}

/** Writes one reply as vLLM does: fields, their order, what is null and what is left out. */
export interface AnswerWriter {
  /** before the first token of a stream */
  first(): object | null;
  /** tokens as they come; the last ones carry the ending */
  delta(pieces: readonly Piece[], ending: Ending | null): object;
  usage(ending: Ending): object;
  /** the same reply at once */
  whole(pieces: readonly Piece[], ending: Ending): object;
}

export function createAnswerWriter(head: AnswerHead): AnswerWriter {
  return head.asked.path === '/v1/chat/completions' ? chatWriter(head) : completionWriter(head);
}

function usageOf({ promptTokens }: Asked, { completionTokens }: Ending) {
  return {
    prompt_tokens: promptTokens,
    total_tokens: promptTokens + completionTokens,
    completion_tokens: completionTokens,
    prompt_tokens_details: null,
  };
}

const textOf = (pieces: readonly Piece[]): string[] => pieces.filter((piece) => typeof piece === 'string');
const fragmentsOf = (pieces: readonly Piece[]): ToolFragment[] =>
  pieces.filter((piece) => typeof piece !== 'string');

function chatWriter({ id, created, asked }: AnswerHead): AnswerWriter {
  const head = { id, object: 'chat.completion.chunk', created, model: asked.model };
  const logprobs = (pieces: readonly Piece[]) =>
    asked.topLogprobs === null ? null : chatLogprobs(textOf(pieces), asked.topLogprobs);
  return {
    first: () => ({
      ...head,
      choices: [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
    }),
    delta(pieces, ending) {
      const fragments = fragmentsOf(pieces);
      const text = textOf(pieces).join('');
      const content = text !== '' || fragments.length === 0 ? { content: text } : {};
      const calls = fragments.length === 0 ? {} : { tool_calls: fragments.map(toDelta) };
      const end = {
        finish_reason: ending?.finishReason ?? null,
        ...(ending === null ? {} : { stop_reason: ending.stopReason }),
      };
      return {
        ...head,
        choices: [{ index: 0, delta: { ...content, ...calls }, logprobs: logprobs(pieces), ...end }],
      };
    },
    usage: (ending) => ({ ...head, choices: [], usage: usageOf(asked, ending) }),
    whole: (pieces, ending) => ({
      ...head,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: messageOf(pieces),
          logprobs: logprobs(pieces),
          finish_reason: ending.finishReason,
          stop_reason: ending.stopReason,
        },
      ],
      service_tier: null,
      system_fingerprint: null,
      usage: usageOf(asked, ending),
      prompt_logprobs: null,
      prompt_token_ids: null,
      kv_transfer_params: null,
    }),
  };
}

function toDelta({ index, id, name, fragment }: ToolFragment): object {
  if (id === undefined) return { index, function: { arguments: fragment } };
  return { id, type: 'function', index, function: { name, arguments: fragment } };
}

function messageOf(pieces: readonly Piece[]): object {
  const calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = [];
  for (const { index, id = '', name = '', fragment } of fragmentsOf(pieces)) {
    const call = calls[index] ?? { id, type: 'function', function: { name, arguments: '' } };
    call.function.arguments += fragment;
    calls[index] = call;
  }
  const text = textOf(pieces).join('');
  return {
    role: 'assistant',
    content: calls.length > 0 && text === '' ? null : text,
    refusal: null,
    annotations: null,
    audio: null,
    function_call: null,
    tool_calls: calls,
    reasoning_content: null,
  };
}

function completionWriter({ id, created, asked }: AnswerHead): AnswerWriter {
  const head = { id, object: 'text_completion', created, model: asked.model };
  let offset = 0;
  const choice = (pieces: readonly Piece[], ending: Ending | null) => {
    const tokens = textOf(pieces);
    const logprobs =
      asked.topLogprobs === null ? null : completionLogprobs(tokens, asked.topLogprobs, offset);
    const text = tokens.join('');
    offset += text.length;
    const finish = { finish_reason: ending?.finishReason ?? null, stop_reason: ending?.stopReason ?? null };
    return { index: 0, text, logprobs, ...finish };
  };
  return {
    first: () => null,
    delta: (pieces, ending) => ({ ...head, choices: [choice(pieces, ending)] }),
    usage: (ending) => ({ ...head, choices: [], usage: usageOf(asked, ending) }),
    whole: (pieces, ending) => ({
      ...head,
      choices: [{ ...choice(pieces, ending), prompt_logprobs: null }],
      service_tier: null,
      system_fingerprint: null,
      usage: usageOf(asked, ending),
      kv_transfer_params: null,
    }),
  };
}
