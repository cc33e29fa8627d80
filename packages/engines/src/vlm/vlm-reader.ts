import {
  ENGINE_PROFILES,
  type EngineProfile,
  PagefleetError,
  type PageResult,
  type ProfileName,
} from '@pagefleet/contract';
import type { PageInput } from '../port.ts';
import { parserOf } from '../profiles/parser-of.ts';
import type { ParseReply } from '../profiles/profile-parser.ts';
import { askServer, type EncodeRequest, type ServerReply } from './ask-server.ts';
import { buildRequest } from './build-request.ts';
import type { TokenTrace } from './completion-text.ts';
import { type Ask, decideAttempt, type PastAttempt, type ReplyVerdict } from './decide-attempt.ts';
import type { Drawing, DrawnSize } from './drawing.ts';
import { endsInLoop } from './ends-in-loop.ts';
import type { LoopThresholds } from './loop-watch.ts';
import type { ModelServer } from './model-server.ts';

/** How pages are read (`pools[].reading`); 0, and -1 for retries, mean the profile's own figure. */
export interface ReadingSettings {
  readonly profile: ProfileName;
  readonly prompt: string;
  readonly maxTokens: number;
  readonly continuations: number;
  readonly retries: number;
  readonly timeoutMs: number;
  /** null: a reply is never abandoned while it comes */
  readonly loop: LoopThresholds | null;
  readonly accentRepair: boolean;
  readonly tokenTrace: boolean;
}

/** What happened while pages were read, for metrics. */
export interface ReadingEvents {
  asked(): void;
  /** A reply was not taken, `tokens` of it generated as far as is known; `looped`: it was abandoned while it came. */
  rejected(why: Rejection, tokens: number | null): void;
}

type Rejection = 'looped' | 'loop' | 'cut' | 'invalid' | 'turned';

export interface VlmReader {
  /**
   * Reads one page with a model server: draws it, asks as often as the engine's ladder allows, parses the reply. Rejects
   * with `page_unreadable` when no reply can be used, and with whatever the server or the way to it says.
   */
  read(page: PageInput, server: ModelServer): Promise<PageResult>;
}

interface Read {
  readonly attempt: PastAttempt;
  readonly reply: ServerReply;
  /** null: it cannot be used */
  readonly page: Extract<ReturnType<ParseReply>, { kind: 'page' }> | null;
  readonly size: DrawnSize;
}

export function createVlmReader(
  settings: ReadingSettings,
  drawing: Drawing,
  events: ReadingEvents,
): VlmReader {
  const profile = ENGINE_PROFILES[settings.profile];
  const parse = parserOf(settings.profile, settings.accentRepair);
  const budget = {
    retries: settings.retries < 0 ? profile.retry.retries : settings.retries,
    continuations: settings.continuations,
  };

  async function read(page: PageInput, server: ModelServer): Promise<PageResult> {
    const startedMs = performance.now();
    const past: Read[] = [];
    for (;;) {
      const decision = decideAttempt(
        past.map(({ attempt }) => attempt),
        profile,
        budget,
      );
      if (decision.kind === 'give_up') throw new PagefleetError('page_unreadable', decision.reason);
      if (decision.kind === 'accept') return resultOf(past[decision.which], performance.now() - startedMs);
      past.push(await tryOnce(page, decision.ask, server));
    }
  }

  async function tryOnce(page: PageInput, ask: Ask, server: ModelServer): Promise<Read> {
    const maxTokens = settings.maxTokens || profile.request.maxTokens;
    const said = { profile, prompt: settings.prompt, ask, maxTokens, trace: settings.tokenTrace };
    let size: DrawnSize = { width: 0, height: 0, dpi: 1 };
    const encode: EncodeRequest = async (wanted) => {
      const picture = await drawing.draw(page, ask.rotation);
      size = { width: picture.width, height: picture.height, dpi: picture.dpi };
      return Buffer.from(JSON.stringify(buildRequest({ ...said, picture, reply: wanted })));
    };
    events.asked();
    const signal = AbortSignal.any([page.signal, AbortSignal.timeout(settings.timeoutMs)]);
    const reply = await askServer(encode, { server, loop: settings.loop, signal });
    return readReply({ ...reply, text: (ask.prefix ?? '') + reply.text }, ask, size);
  }

  function readReply(reply: ServerReply, ask: Ask, size: DrawnSize): Read {
    const parsed = parse(reply.text, size);
    const verdict = judge(reply, parsed);
    if (verdict.kind !== 'good') events.rejected(reasonOf(reply, verdict), reply.completionTokens);
    const isUsable = verdict.kind === 'good' || verdict.kind === 'suspect';
    return {
      attempt: { ask, verdict },
      ...{ reply, size },
      page: isUsable && parsed.kind === 'page' ? parsed : null,
    };
  }

  function resultOf(read: Read | undefined, engineMs: number): PageResult {
    if (!read?.page) throw new PagefleetError('internal', 'a reply was accepted that cannot be used');
    const { page, reply, size, attempt } = read;
    return {
      text: page.text,
      markdown: page.markdown,
      confidence: confidenceOf(reply.tokens),
      ...{ width: size.width, height: size.height, dpi: size.dpi },
      rotation: attempt.ask.rotation,
      ...(page.blocks === null ? {} : { blocks: [...page.blocks] }),
      ...(settings.tokenTrace ? { trace: [...reply.tokens] } : {}),
      engine: engineName(profile),
      engineMs,
    };
  }

  return { read };
}

/** A reply that repeats itself is judged before it is parsed: what it repeats may parse well. */
function judge(reply: ServerReply, parsed: ReturnType<ParseReply>): ReplyVerdict {
  if (reply.end === 'looped') return { kind: 'loop' };
  const loops = endsInLoop(reply.text);
  if (reply.end === 'length') return loops ? { kind: 'loop' } : { kind: 'cut', text: reply.text };
  if (parsed.kind !== 'page') return parsed;
  return loops ? { kind: 'suspect' } : { kind: 'good' };
}

function reasonOf({ end }: ServerReply, { kind }: ReplyVerdict): Rejection {
  if (end === 'looped') return 'looped';
  return kind === 'good' || kind === 'suspect' ? 'loop' : kind;
}

/** The mean probability of its tokens, as Surya's own client counts it; null where they were not asked for. */
function confidenceOf(tokens: readonly TokenTrace[]): number | null {
  if (tokens.length === 0) return null;
  const sum = tokens.reduce((total, { logprob }) => total + Math.exp(Math.min(0, logprob)), 0);
  return (100 * sum) / tokens.length;
}

function engineName({ name, model }: EngineProfile): string {
  return `${name} (${model})`;
}
