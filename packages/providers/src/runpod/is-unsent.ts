/** Failures of these steps come before the first byte of a request. */
const BEFORE_SENDING = new Set(['connect', 'getaddrinfo']);
/** The same, where the step is not named: no connection in time, or a certificate that is not accepted. */
const UNSENT = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);
const MAX_DEPTH = 5;

/** Only what is sure counts: a connection that was cut may have carried the request, whatever the error is called. */
export function isUnsent(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > MAX_DEPTH) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code !== undefined && UNSENT.has(code)) return true;
  // Several addresses were tried, one after the other: unsent if none of them took it.
  if (error instanceof AggregateError)
    return error.errors.length > 0 && error.errors.every((one) => isUnsent(one, depth + 1));
  return (syscall !== undefined && BEFORE_SENDING.has(syscall)) || isUnsent(error.cause, depth + 1);
}
