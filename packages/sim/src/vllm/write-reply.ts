import type { Asked } from './asked.ts';
import { endless, garbagePieces, loopPieces, type PieceAt, textPieces, toolPieces } from './pieces.ts';
import { type ReplyShape, writePage, writeTurnedPage } from './reply-shape.ts';
import type { ScriptedReply } from './script.ts';

/** What is generated for a request. */
export interface Reply {
  readonly pieceAt: PieceAt;
  /** when it ends by itself */
  readonly finish: string;
  /** vLLM's `stop_reason`: the stop text that ended it */
  readonly stopReason: string | null;
}

export function writeReply(asked: Asked, scripted: ScriptedReply, shape: ReplyShape): Reply {
  const { loop, garbage, toolCalls, finish = 'stop' } = scripted;
  if (toolCalls !== undefined) {
    const interleave = scripted.interleave === true;
    const calls = toolPieces(toolCalls, { interleave, seed: asked.hash });
    return { pieceAt: calls, finish: scripted.finish ?? 'tool_calls', stopReason: null };
  }
  if (garbage !== undefined) return { pieceAt: garbagePieces(garbage, asked.hash), finish, stopReason: null };
  const whole = scripted.text ?? (loop === undefined ? ownText(asked, shape) : '');
  const rest = goOn(whole, asked.prefix);
  if (loop !== undefined) return { pieceAt: loopPieces(rest, loop), finish, stopReason: null };
  const { text, stopReason } = stopAt(rest, asked.stop);
  const pieceAt = textPieces(text);
  return { pieceAt: asked.ignoreEos ? endless(pieceAt) : pieceAt, finish, stopReason };
}

/** The page's true text in the model's form, or a line that says that nothing was read. */
function ownText(asked: Asked, shape: ReplyShape): string {
  const { page } = asked;
  if (page?.correction === 0) return writePage(page.page.text, shape);
  if (page !== null && shape === 'olmocr') return writeTurnedPage(page.correction);
  const [picture] = asked.pictures;
  if (picture !== undefined) {
    const { width, height, sha256 } = picture;
    return writePage(
      `simulated reply to a picture of ${width} by ${height} pixels, ${sha256.slice(0, 12)}`,
      shape,
    );
  }
  return `simulated reply: no model ran. You said: ${asked.lastText.slice(0, 200)}`;
}

/** A reply that the prompt has begun is written on where it stands. */
function goOn(text: string, prefix: string): string {
  const begun = text.startsWith(prefix) ? prefix : prefix.trimEnd();
  return text.startsWith(begun) ? text.slice(begun.length) : text;
}

function stopAt(text: string, stops: readonly string[]): { text: string; stopReason: string | null } {
  let first = { text, stopReason: null as string | null };
  for (const stop of stops) {
    const at = first.text.indexOf(stop);
    if (at >= 0) first = { text: first.text.slice(0, at), stopReason: stop };
  }
  return first;
}
