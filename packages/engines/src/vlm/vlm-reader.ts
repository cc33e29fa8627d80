import {
  ENGINE_PROFILES,
  type EngineProfile,
  PagefleetError,
  type PageResult,
  type ProfileName,
  type Rejection,
} from '@pagefleet/contract';
import { parserOf } from '../profiles/parser-of.ts';
import type { ParsedReply } from '../profiles/profile-parser.ts';
import { type AskedPage, askPage, type PageAnswer } from './ask-page.ts';
import { type Ask, decideAttempt, type PastAttempt, type ReplyVerdict } from './decide-attempt.ts';
import type { Drawing, PageToRead } from './drawing.ts';
import { endsInLoop } from './ends-in-loop.ts';
import { CONTINUATION_MARGIN, fitMaxTokens } from './fit-max-tokens.ts';
import type { LoopThresholds } from './loop-watch.ts';
import type { ModelServer } from './model-server.ts';
import { createTokenTally } from './token-tally.ts';

/** How pages are read (`pools[].reading`); 0, and -1 for retries, mean the profile's own figure. */
export interface ReadingSettings {
  readonly profile: ProfileName;
  readonly prompt: string;
  readonly maxTokens: number;
  /** longest prompt and reply together that the server takes, tokens (`pools[].vllm.max_model_len`) */
  readonly maxModelLen: number;
  readonly continuations: number;
  readonly retries: number;
  /** of one request to the model server */
  readonly timeoutMs: number;
  /** null: a reply is never abandoned while it comes */
  readonly loop: LoopThresholds | null;
  readonly accentRepair: boolean;
  readonly tokenTrace: boolean;
}

/** What happens while a page is read, for metrics. */
export interface ReadingEvents {
  asked(): void;
  /** A reply was not taken, `tokens` of it generated as far as is known; `looped`: it was abandoned while it came. */
  rejected(why: Rejection, tokens: number): void;
}

export interface VlmReader {
  /**
   * Reads one page with a model server: draws it, asks as often as the engine's ladder allows, parses the reply. Rejects
   * with `page_unreadable` when no reply can be used, `local_shortage` when it was not drawn in time, `ReplyTimeout`, or
   * whatever the server or the way to it says; on abort as every `Engine`.
   */
  read(page: PageToRead, server: ModelServer, events?: ReadingEvents): Promise<PageResult>;
}

const UNHEARD: ReadingEvents = { asked: () => undefined, rejected: () => undefined };

interface Past {
  readonly attempt: PastAttempt;
  readonly answer: Pick<PageAnswer, 'tally' | 'usedTokens'>;
  /** null: the reply cannot be used */
  readonly result: Omit<PageResult, 'engineMs'> | null;
}

export function createVlmReader(settings: ReadingSettings, drawing: Drawing): VlmReader {
  const profile = ENGINE_PROFILES[settings.profile];
  const parse = parserOf(settings.profile, settings.accentRepair);
  const maxTokens = settings.maxTokens || profile.request.maxTokens;
  const context = settings.maxModelLen || profile.launch.maxModelLen;
  const budget = {
    retries: settings.retries < 0 ? profile.retry.retries : settings.retries,
    continuations: settings.continuations,
  };
  const asked: Omit<AskedPage, 'page' | 'ask' | 'server' | 'tally' | 'usedTokens'> = {
    ...{ profile, maxTokens, context, drawing },
    prompt: settings.prompt,
    timeoutMs: settings.timeoutMs,
    loop: settings.loop,
    trace: settings.tokenTrace,
  };

  async function read(
    page: PageToRead,
    server: ModelServer,
    events: ReadingEvents = UNHEARD,
  ): Promise<PageResult> {
    const startedMs = performance.now();
    const past: Past[] = [];
    for (;;) {
      const decision = decideAttempt(
        past.map(({ attempt }) => attempt),
        profile,
        budget,
      );
      if (decision.kind === 'give_up') throw new PagefleetError('page_unreadable', decision.reason);
      if (decision.kind === 'accept') {
        const result = past[decision.which]?.result;
        if (!result) throw new PagefleetError('internal', 'a reply was accepted that cannot be used');
        return { ...result, engineMs: performance.now() - startedMs };
      }
      past.push(await tryOnce({ page, server, events, ask: decision.ask, before: past.at(-1) }));
    }
  }

  async function tryOnce(request: {
    readonly page: PageToRead;
    readonly server: ModelServer;
    readonly events: ReadingEvents;
    readonly ask: Ask;
    readonly before: Past | undefined;
  }): Promise<Past> {
    const { page, server, events, ask, before } = request;
    const isGoingOn = ask.prefix !== null && before !== undefined;
    events.asked();
    const answer = await askPage({
      ...asked,
      ...{ page, server, ask },
      tally: isGoingOn ? before.answer.tally : createTokenTally(settings.tokenTrace),
      usedTokens: isGoingOn ? before.answer.usedTokens : null,
    });
    return judgeAnswer(answer, ask, events);
  }

  function judgeAnswer(answer: PageAnswer, ask: Ask, events: ReadingEvents): Past {
    const { size, tally } = answer;
    const parsed = parse(answer.text, size);
    const hasRoom = fitMaxTokens(maxTokens, context, answer.usedTokens + CONTINUATION_MARGIN) !== null;
    const verdict = judge(answer, parsed, hasRoom);
    if (verdict.kind !== 'good') events.rejected(reasonOf(answer, verdict), answer.tokens);
    const isUsable = verdict.kind === 'good' || verdict.kind === 'suspect';
    const kept = { attempt: { ask, verdict }, answer: { tally, usedTokens: answer.usedTokens } };
    if (!isUsable || parsed.kind !== 'page') return { ...kept, result: null };
    return {
      ...kept,
      result: {
        text: parsed.text,
        markdown: parsed.markdown,
        confidence: tally.confidence,
        ...{ width: size.width, height: size.height, dpi: size.dpi },
        rotation: ask.rotation,
        ...(parsed.blocks === null ? {} : { blocks: [...parsed.blocks] }),
        ...(settings.tokenTrace ? { trace: [...tally.trace] } : {}),
        engine: engineName(profile),
      },
    };
  }

  return { read };
}

/** A reply that repeats itself is judged before it is parsed: what it repeats may parse well. */
function judge({ end, text }: PageAnswer, parsed: ParsedReply, hasRoom: boolean): ReplyVerdict {
  if (end === 'looped') return { kind: 'loop' };
  const loops = endsInLoop(text);
  if (end === 'length') {
    if (loops) return { kind: 'loop' };
    return hasRoom ? { kind: 'cut', text } : { kind: 'invalid', why: 'it filled the model’s whole context' };
  }
  if (parsed.kind !== 'page') return parsed;
  return loops ? { kind: 'suspect' } : { kind: 'good' };
}

function reasonOf({ end }: PageAnswer, { kind }: ReplyVerdict): Rejection {
  if (end === 'looped') return 'looped';
  if (end === 'length' && kind === 'invalid') return 'cut';
  return kind === 'good' || kind === 'suspect' ? 'loop' : kind;
}

function engineName({ name, model }: EngineProfile): string {
  return `${name} (${model})`;
}
