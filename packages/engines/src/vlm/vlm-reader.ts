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
import { askServer, type ServerReply } from './ask-server.ts';
import { buildRequest } from './build-request.ts';
import type { TokenTrace } from './completion-text.ts';
import { type Ask, decideAttempt, type PastAttempt, type ReplyVerdict } from './decide-attempt.ts';
import type { Drawing } from './drawing.ts';
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
  /** a reply was thrown away for this, `tokens` of it generated as far as is known */
  rejected(why: 'loop' | 'looped' | 'cut' | 'invalid' | 'turned', tokens: number | null): void;
}

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
  readonly size: { readonly width: number; readonly height: number; readonly dpi: number };
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
    const picture = await drawing.draw(page, ask.rotation);
    const request = buildRequest({
      ...{ profile, prompt: settings.prompt, picture, ask },
      ...{ maxTokens: settings.maxTokens || profile.request.maxTokens, trace: settings.tokenTrace },
    });
    events.asked();
    const signal = AbortSignal.any([page.signal, AbortSignal.timeout(settings.timeoutMs)]);
    const reply = await askServer(request, { server, loop: settings.loop, signal });
    const whole = { ...reply, text: (ask.prefix ?? '') + reply.text };
    const parsed = parse(whole.text, picture);
    const verdict = judge(whole, parsed);
    if (verdict.kind !== 'good') {
      const why = whole.end === 'looped' ? 'looped' : verdict.kind === 'suspect' ? 'loop' : verdict.kind;
      events.rejected(why, reply.completionTokens);
    }
    const usable = verdict.kind === 'good' || verdict.kind === 'suspect';
    return {
      attempt: { ask, verdict },
      reply: whole,
      page: usable && parsed.kind === 'page' ? parsed : null,
      size: picture,
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

/** The mean probability of its tokens, as Surya's own client counts it; null where they were not asked for. */
function confidenceOf(tokens: readonly TokenTrace[]): number | null {
  if (tokens.length === 0) return null;
  const sum = tokens.reduce((total, { logprob }) => total + Math.exp(Math.min(0, logprob)), 0);
  return (100 * sum) / tokens.length;
}

function engineName({ name, model }: EngineProfile): string {
  return `${name} (${model})`;
}
