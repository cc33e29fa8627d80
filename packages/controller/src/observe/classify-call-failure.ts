import type { ProbeOutcome } from '@pagefleet/core';

/** First match wins: what a failed call to a pod says, by the error's code, wherever in the chain of causes it stands. */
const TABLE: readonly { readonly codes: readonly (string | RegExp)[]; readonly outcome: ProbeOutcome }[] = [
  // We had no descriptor, memory, port or route of our own: no evidence against any pod.
  {
    codes: ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EADDRNOTAVAIL', 'ENETUNREACH', 'ENETDOWN'],
    outcome: 'ours',
  },
  {
    codes: [
      'UND_ERR_CONNECT_TIMEOUT',
      'UND_ERR_HEADERS_TIMEOUT',
      'UND_ERR_BODY_TIMEOUT',
      'ETIMEDOUT',
      'EHOSTUNREACH',
      'EHOSTDOWN',
      'TimeoutError',
      'AbortError',
    ],
    outcome: 'timeout',
  },
  // Somebody answered the connection and could not do what only the pod can (a TLS handshake with its key).
  { codes: ['EPROTO', /^ERR_(SSL|TLS)_/], outcome: 'unproven' },
  // A cut connection is nearest to a refused one: somebody is there and does not talk to us.
  { codes: ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'], outcome: 'refused' },
];

export function classifyCallFailure(error: unknown): ProbeOutcome {
  const codes = codesOf(error);
  const isSaid = (code: string | RegExp): boolean =>
    typeof code === 'string' ? codes.has(code) : [...codes].some((one) => code.test(one));
  return TABLE.find((row) => row.codes.some(isSaid))?.outcome ?? 'refused';
}

function codesOf(error: unknown): Set<string> {
  const codes = new Set<string>();
  let cause: unknown = error;
  for (let depth = 0; depth < 5 && cause instanceof Error; depth += 1) {
    const { code } = cause as NodeJS.ErrnoException;
    if (typeof code === 'string') codes.add(code);
    codes.add(cause.name);
    if (cause instanceof AggregateError) {
      for (const inner of cause.errors) for (const innerCode of codesOf(inner)) codes.add(innerCode);
    }
    cause = cause.cause;
  }
  return codes;
}
