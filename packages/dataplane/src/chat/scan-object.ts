/** A top-level member of a JSON object, as the bytes between which its value lies. */
export interface ScannedMember {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/** What is wrong, and at which byte. */
export class NotAnObject extends Error {
  override readonly name = 'NotAnObject';
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d] as const;

/**
 * The members of the JSON object in a body, in their order, without building what is in them: parsed, a body of some
 * megabytes can take forty times its size. Inside values only strings and brackets are followed; whoever takes the body
 * judges the rest. Throws `NotAnObject`.
 */
export function* scanObject(body: Uint8Array): Generator<ScannedMember> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let at = skipBlank(bytes, 0);
  at = skipBlank(bytes, expectByte(bytes, at, OPEN_BRACE));
  let isFirst = true;
  while (bytes[at] !== CLOSE_BRACE) {
    if (!isFirst) at = skipBlank(bytes, expectByte(bytes, at, COMMA));
    isFirst = false;
    const keyEnd = endOfString(bytes, at);
    const key = readString(bytes, at, keyEnd);
    const start = skipBlank(bytes, expectByte(bytes, skipBlank(bytes, keyEnd), COLON));
    const end = endOfValue(bytes, start);
    yield { key, start, end };
    at = skipBlank(bytes, end);
  }
  if (skipBlank(bytes, at + 1) < bytes.length) throw unexpected(bytes, skipBlank(bytes, at + 1));
}

/** The text of a string whose bytes lie between two places, quotes included. */
export function readString(body: Uint8Array, start: number, end: number): string {
  const text = Buffer.from(body.buffer, body.byteOffset + start, end - start).toString('utf8');
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new NotAnObject(`the string at byte ${start} is no JSON`, { cause });
  }
}

function endOfValue(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return endOfString(bytes, start);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return endOfNested(bytes, start);
  let at = start;
  while (at < bytes.length && !isEndOfLiteral(bytes[at])) at += 1;
  if (at === start) throw unexpected(bytes, start);
  return at;
}

/** Brackets are counted, not matched in kind. */
function endOfNested(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at) - 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  throw unexpected(bytes, bytes.length);
}

/** Behind the closing quote, which is the first one without an odd number of backslashes before it. */
function endOfString(bytes: Buffer, start: number): number {
  expectByte(bytes, start, QUOTE);
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let before = at - 1;
    while (before > start && bytes[before] === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 1) return at + 1;
  }
  throw unexpected(bytes, bytes.length);
}

function expectByte(bytes: Buffer, at: number, byte: number): number {
  if (bytes[at] !== byte) throw unexpected(bytes, at);
  return at + 1;
}

function skipBlank(bytes: Buffer, from: number): number {
  let at = from;
  while (isBlank(bytes[at])) at += 1;
  return at;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isEndOfLiteral(byte: number | undefined): boolean {
  return isBlank(byte) || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
}

function unexpected(bytes: Buffer, at: number): NotAnObject {
  return new NotAnObject(at < bytes.length ? `unexpected at byte ${at}` : 'it ends too soon');
}
