import { stdSerializers } from 'pino';

const SECRET_NAME = /(token|secret|password|apikey|authorization|cookie)$/;
const MAX_DEPTH = 8;
const REDACTED = '[redacted]';

/** `X-Api-Key`, `api_key` and `podToken` are judged by their end, without signs and case. */
function isSecretName(name: string): boolean {
  const plain = name.replace(/[-_]/g, '').toLowerCase();
  return plain === 'pass' || SECRET_NAME.test(plain);
}

/**
 * A copy of a log record without secrets. What the name of a field gives away is replaced, at any depth and in any
 * list, and so are bearer tokens inside text. A whole slice may be logged without showing a pod's token.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return redact({ ...stdSerializers.err(value) }, depth);
  if (depth >= MAX_DEPTH) return '[too deep]';
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  if (value instanceof Map) return redact(Object.fromEntries(value), depth);
  if (value instanceof Set) return redact([...value], depth);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') {
    return redact((value as { toJSON(): unknown }).toJSON(), depth + 1);
  }
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    copy[name] = member != null && isSecretName(name) ? REDACTED : redact(member, depth + 1);
  }
  return copy;
}

function redactText(text: string): string {
  return text.includes('earer ') ? text.replace(/(bearer )[^\s"',]+/gi, `$1${REDACTED}`) : text;
}
