import { checkShape, type Shape } from './shape.ts';

/** What the file of `SIM_VLLM_SCRIPT` says; everything may be left out. */
export interface Script {
  /** nothing listens before so many milliseconds have passed */
  readonly startMs?: number;
  /** it gives up after `startMs` instead of listening */
  readonly startFails?: 'oom' | 'exit';
  /** the engine has died under the server that still listens: 503 from `/health`, 500 for every request */
  readonly dead?: boolean;
  /** tokens that fit into the cache */
  readonly kvTokens?: number;
  readonly prefillTokensPerS?: number;
  /** of one sequence alone */
  readonly tokensPerS?: number;
  /** of the whole card */
  readonly loadedTokensPerS?: number;
  /** path of a file of known pages */
  readonly pages?: string;
  /** of everything that is left to chance */
  readonly seed?: number;
  /** share of the writes that are cut in two at any byte, 0 to 1 */
  readonly cuts?: number;
  /** the same request gets the same bytes: ids from the request, a fixed time, one event for each token */
  readonly repeatable?: boolean;
  /** the first one that fits a request says how it is answered */
  readonly rules?: readonly Rule[];
}

export interface Rule {
  readonly when?: When;
  readonly reply: ScriptedReply;
}

/** All that is said has to fit. */
export interface When {
  /** name of the known page in the picture, turned or not */
  readonly page?: string;
  /** in the text of the prompt */
  readonly textContains?: string;
  readonly model?: string;
  readonly path?: string;
  readonly stream?: boolean;
  /** 0 to 1 of the requests, by a hash of their bodies */
  readonly share?: number;
  /** which of the requests that fit the rest, the first is 1 */
  readonly nth?: number | readonly number[];
}

/** Left out: the page's true text or an honest line. */
export interface ScriptedReply {
  readonly text?: string;
  /** comes again and again until the budget ends, after `text` if there is one */
  readonly loop?: string;
  /** so many tokens of nothing that any engine would write */
  readonly garbage?: number;
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** fragments of the calls take turns */
  readonly interleave?: boolean;
  /** instead of what it would be */
  readonly finish?: string;
  /** no token comes before */
  readonly slowFirstTokenMs?: number;
  /** the connection is cut after so many tokens, the reply in the middle of an event */
  readonly truncate?: number;
  /** the stream ends in order after so many tokens, without finish reason and `[DONE]` */
  readonly endsEarly?: number;
  readonly error?: ScriptedError;
  /** the process ends after so many tokens */
  readonly dies?: number;
  /** a body of JSON though a stream was asked for */
  readonly whole?: boolean;
}

export interface ScriptedToolCall {
  readonly name: string;
  /** an object is written as JSON */
  readonly arguments: string | object;
  readonly id?: string;
}

/** Before the reply, as a status; with `afterTokens` as an error event inside of a stream that began with 200. */
interface ScriptedError {
  readonly status: number;
  readonly message?: string;
  readonly type?: string;
  readonly afterTokens?: number;
}

const SCRIPT: Shape = {
  startMs: ['number'],
  startFails: ['"oom"', '"exit"'],
  dead: ['boolean'],
  kvTokens: ['number'],
  prefillTokensPerS: ['number'],
  tokensPerS: ['number'],
  loadedTokensPerS: ['number'],
  pages: ['string'],
  seed: ['number'],
  cuts: ['number'],
  repeatable: ['boolean'],
  rules: ['list'],
};
const RULE: Shape = { when: ['object'], reply: ['object'] };
const WHEN: Shape = {
  page: ['string'],
  textContains: ['string'],
  model: ['string'],
  path: ['string'],
  stream: ['boolean'],
  share: ['number'],
  nth: ['number', 'list'],
};
const REPLY: Shape = {
  text: ['string'],
  loop: ['string'],
  garbage: ['number'],
  toolCalls: ['list'],
  interleave: ['boolean'],
  finish: ['string'],
  slowFirstTokenMs: ['number'],
  truncate: ['number'],
  endsEarly: ['number'],
  error: ['object'],
  dies: ['number'],
  whole: ['boolean'],
};
const ERROR: Shape = { status: ['number'], message: ['string'], type: ['string'], afterTokens: ['number'] };
const TOOL_CALL: Shape = { name: ['string'], arguments: ['string', 'object'], id: ['string'] };

/** Throws an error that names the field and what was expected. */
export function parseScript(json: string): Script {
  const script = checkShape(JSON.parse(json), SCRIPT, 'script');
  for (const [at, rule] of ((script.rules ?? []) as unknown[]).entries()) {
    const path = `script.rules[${at}]`;
    const { when = {}, reply } = checkShape(rule, RULE, path);
    checkShape(when, WHEN, `${path}.when`);
    const { error = { status: 500 }, toolCalls = [], loop } = checkShape(reply, REPLY, `${path}.reply`);
    const { status } = checkShape(error, ERROR, `${path}.reply.error`);
    if (!(Number(status) >= 400)) throw new Error(`${path}.reply.error.status: expected 400 or more`);
    if (loop === '') throw new Error(`${path}.reply.loop: expected a text that is not empty`);
    for (const call of toolCalls as unknown[]) checkShape(call, TOOL_CALL, `${path}.reply.toolCalls`);
  }
  return script;
}
