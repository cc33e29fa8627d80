import { shareOf } from './hash.ts';
import type { ScriptedToolCall } from './script.ts';
import { splitTokens } from './tokens.ts';

/** Part of a tool call as a delta carries it; `id` and `name` only in the first one of its call. */
export interface ToolFragment {
  readonly index: number;
  readonly id?: string;
  readonly name?: string;
  readonly fragment: string;
}

/** What one token of a reply is. */
export type Piece = string | ToolFragment;

/** Token at each place; null: the reply ends before it. */
export type PieceAt = (index: number) => Piece | null;

export function textPieces(text: string): PieceAt {
  const tokens = splitTokens(text);
  return (index) => tokens[index] ?? null;
}

/** `unit` without end behind `text`. */
export function loopPieces(text: string, unit: string): PieceAt {
  const [head, round] = [splitTokens(text), splitTokens(unit)];
  return (index) => head[index] ?? round[(index - head.length) % round.length] ?? null;
}

/** The same ones from the beginning again, without end, as with `ignore_eos`. */
export function endless(pieceAt: PieceAt): PieceAt {
  let count = 0;
  while (pieceAt(count) !== null) count += 1;
  return (index) => (count === 0 ? ' ' : pieceAt(index % count));
}

const GARBAGE = ['<td', '\u0000', 'ĠĠ', '}}', '﷽', '%20', 'åæ', '"""', '\\u', '0x', '🜲', '</'];

/** No engine's form, no language, no loop; the same for the same seed. */
export function garbagePieces(count: number, seed: string): PieceAt {
  return (index) =>
    index < count ? (GARBAGE[Math.floor(shareOf(`${seed}.${index}`) * GARBAGE.length)] ?? '<') : null;
}

/** Calls one behind the other, or fragments of all of them by turns. */
export function toolPieces(
  calls: readonly ScriptedToolCall[],
  { interleave, seed }: { readonly interleave: boolean; readonly seed: string },
): PieceAt {
  const perCall = calls.map((call, index): ToolFragment[] => {
    const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
    const id = call.id ?? `chatcmpl-tool-${seed.slice(0, 16)}${index}`;
    const fragments = splitTokens(text).map((fragment) => ({ index, fragment }));
    return [{ index, id, name: call.name, fragment: '' }, ...fragments];
  });
  const longest = Math.max(0, ...perCall.map(({ length }) => length));
  const pieces = interleave
    ? Array.from({ length: longest }, (_, at) => perCall.flatMap((call) => call[at] ?? [])).flat()
    : perCall.flat();
  return (index) => pieces[index] ?? null;
}
