import type { ProfileName } from '@pagefleet/contract';
import type { Rule, ScriptedReply } from '@pagefleet/sim/vllm';
import type { PageForm } from './pattern-page.ts';
import { INVALID_REPLIES, refrainOf, WHOLE_REPLIES } from './replies.ts';

/** What happens to one page; its name is that of the page and of its recording. */
export interface Situation {
  readonly name: string;
  readonly form: PageForm;
  /** to the requests for the page, in order; the last one to all that follow */
  readonly replies: (profile: ProfileName) => readonly ScriptedReply[];
  /** it teaches the reader something of the server, so it comes after all others */
  readonly isLast?: true;
}

const situation = (name: string, replies: Situation['replies'], form: PageForm = 'pdf'): Situation => ({
  name,
  form,
  replies,
});

const whole = (profile: ProfileName): ScriptedReply => ({ text: WHOLE_REPLIES[profile] });
const half = (profile: ProfileName): ScriptedReply => ({
  text: WHOLE_REPLIES[profile].slice(0, WHOLE_REPLIES[profile].length / 2),
  finish: 'length',
});
const AFTER_TOKENS = 20;
const SLOW_MS = 1_500;
const TOO_LONG =
  "This model's maximum context length is 100 tokens. However, your request has 200 input tokens. Please reduce the length of the input messages.";

export const SITUATIONS: readonly Situation[] = [
  situation('plain_page', (profile) => [whole(profile)]),
  situation('small_picture', (profile) => [whole(profile)], 'small_png'),
  situation('coloured_scan', (profile) => [whole(profile)], 'coloured_jpeg'),
  // Where picture and longest reply together are more than the model takes, a shorter reply is asked for.
  situation('sheet_larger_than_the_engine_takes', (profile) => [whole(profile)], 'large_pdf'),
  situation('cut_and_gone_on_with', (profile) => [half(profile), whole(profile)]),
  situation('cut_after_every_continuation', (profile) => [
    half(profile),
    half(profile),
    half(profile),
    whole(profile),
  ]),
  situation('loops_in_every_try', () => [{ loop: 'and so on and on ' }]),
  situation('loops_once', (profile) => [{ loop: 'and so on and on ' }, whole(profile)]),
  situation('ends_in_a_refrain_once', (profile) => [{ text: refrainOf(profile) }, whole(profile)]),
  situation('garbage_once', (profile) => [{ garbage: 200 }, whole(profile)]),
  situation('never_a_page', () => INVALID_REPLIES.map((text) => ({ text }))),
  situation('says_nothing_once', (profile) => [{ text: '' }, whole(profile)]),
  // A known page on its side: olmOCR is answered with the turn, the others read it as it lies.
  situation('lies_on_its_side', (profile) => (profile === 'olmocr' ? [{}] : [whole(profile)]), 'turned_pdf'),
  situation('refused_as_too_long', () => [
    { error: { status: 400, message: TOO_LONG, type: 'BadRequestError' } },
  ]),
  situation('refused_with_500_once', (profile) => [{ error: { status: 500 } }, whole(profile)]),
  situation('error_in_the_stream_once', (profile) => [
    { error: { status: 500, afterTokens: AFTER_TOKENS }, ...whole(profile) },
    whole(profile),
  ]),
  situation('stream_breaks_off_once', (profile) => [
    { truncate: AFTER_TOKENS, ...whole(profile) },
    whole(profile),
  ]),
  situation('stream_ends_early_once', (profile) => [
    { endsEarly: AFTER_TOKENS, ...whole(profile) },
    whole(profile),
  ]),
  situation('first_token_comes_late', (profile) => [{ slowFirstTokenMs: SLOW_MS, ...whole(profile) }]),
  situation('answered_whole', (profile) => [{ whole: true, ...whole(profile) }]),
  { ...situation('server_that_cannot_stream', (profile) => [whole(profile)]), isLast: true },
];

/** Each but the last reply is used up by one request. */
export function rulesOf({ name, replies, isLast }: Situation, profile: ProfileName): Rule[] {
  const all = replies(profile);
  const ruled = all.map((reply, at): Rule => {
    return { when: { page: name, ...(at < all.length - 1 ? { nth: 1 } : {}) }, reply };
  });
  const cannotStream: Rule = {
    when: { page: name, stream: true },
    reply: { error: { status: 400, message: 'streaming is not supported' } },
  };
  return isLast ? [cannotStream, ...ruled] : ruled;
}
