import type { EngineProfile } from '@pagefleet/contract';

type Rotation = 0 | 90 | 180 | 270;

/** What one request to the model server asks for. */
export interface Ask {
  readonly temperature: number;
  /** null: not sent */
  readonly topP: number | null;
  /** degrees clockwise by which the picture is turned first */
  readonly rotation: Rotation;
  /** the reply so far, which is to be gone on with; null: a reply from the start */
  readonly prefix: string | null;
}

/** What became of one request. */
export type ReplyVerdict =
  | { readonly kind: 'good' }
  /** it repeated itself and was abandoned, or cut */
  | { readonly kind: 'loop' }
  /** it came to its end by itself and yet ends in a repetition: another try may show better, or that the page is like that */
  | { readonly kind: 'suspect' }
  /** it had not ended at its longest; `text` is the whole reply, with what it went on from */
  | { readonly kind: 'cut'; readonly text: string }
  | { readonly kind: 'invalid'; readonly why: string }
  /** the engine says that the picture has to be turned clockwise by so much to be read */
  | { readonly kind: 'turned'; readonly by: 90 | 180 | 270 };

export interface PastAttempt {
  readonly ask: Ask;
  readonly verdict: ReplyVerdict;
}

export type AttemptDecision =
  | { readonly kind: 'ask'; readonly ask: Ask }
  /** `which` of the past replies it is */
  | { readonly kind: 'accept'; readonly which: number }
  /** `reason` is for people and names what was wrong with the last reply */
  | { readonly kind: 'give_up'; readonly reason: string };

export interface AttemptBudget {
  /** tries after the first one; continuations are no tries */
  readonly retries: number;
  /** how often one reply may be gone on with */
  readonly continuations: number;
}

/** What is asked next for one page, after all that was answered so far (contract 3.1 to 3.3). */
export function decideAttempt(
  past: readonly PastAttempt[],
  profile: Pick<EngineProfile, 'request' | 'retry'>,
  budget: AttemptBudget,
): AttemptDecision {
  const last = past.at(-1);
  if (last === undefined) return { kind: 'ask', ask: askOf(profile, 0, 0) };
  const { verdict } = last;
  if (verdict.kind === 'good') return { kind: 'accept', which: past.length - 1 };
  if (verdict.kind === 'cut' && continuationsAtEnd(past) < budget.continuations) {
    return { kind: 'ask', ask: { ...last.ask, prefix: verdict.text } };
  }
  const tries = past.filter(({ ask }) => ask.prefix === null).length;
  if (tries > budget.retries) {
    const suspect = past.findLastIndex((attempt) => attempt.verdict.kind === 'suspect');
    if (suspect >= 0) return { kind: 'accept', which: suspect };
    return { kind: 'give_up', reason: `${faultOf(verdict)} in the last of ${tries} tries` };
  }
  const turn = verdict.kind === 'turned' ? verdict.by : 0;
  return { kind: 'ask', ask: askOf(profile, tries, turnedBy(last.ask.rotation, turn)) };
}

function askOf(
  { request, retry }: Pick<EngineProfile, 'request' | 'retry'>,
  tries: number,
  rotation: Rotation,
): Ask {
  if (tries === 0) return { temperature: request.temperature, topP: request.topP, rotation, prefix: null };
  const temperature = retry.temperatures[tries - 1] ?? retry.temperatures.at(-1) ?? request.temperature;
  return { temperature, topP: retry.topP ?? request.topP, rotation, prefix: null };
}

function continuationsAtEnd(past: readonly PastAttempt[]): number {
  return past.length - 1 - past.findLastIndex(({ ask }) => ask.prefix === null);
}

function turnedBy(rotation: Rotation, by: number): Rotation {
  return ((rotation + by) % 360) as Rotation;
}

function faultOf(verdict: Exclude<ReplyVerdict, { kind: 'good' }>): string {
  switch (verdict.kind) {
    case 'loop':
    case 'suspect':
      return 'the engine repeated itself';
    case 'cut':
      return 'the engine’s reply did not end within its longest';
    case 'invalid':
      return `the engine’s reply cannot be used (${verdict.why})`;
    case 'turned':
      return `the engine wanted the page turned by ${verdict.by} degrees`;
  }
}
