/** The last lines that a program printed, for the message of a failed start. */
export interface OutputTail {
  add(chunk: string): void;
  /** the last lines, without secrets */
  text(): string;
}

const MAX_CHARS = 16_000;
const HIDDEN = '[redacted]';
/** Access tokens of the model hub and of the usual services, wherever a program prints them. */
const TOKENS = /\b(?:hf|sk|rpa|ghp|glpat)[_-][A-Za-z0-9_-]{8,}|(bearer )[^\s"',]+/gi;
const SECRET_NAME = /(token|secret|password|passwd|key|credential)s?$/i;
/** Shorter values stand in ordinary text by chance. */
const MIN_SECRET_CHARS = 6;

/** `env`: of the program; the values of its secrets are replaced wherever they appear. */
export function createOutputTail(env: Readonly<Record<string, string | undefined>>): OutputTail {
  const secrets = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= MIN_SECRET_CHARS && SECRET_NAME.test(name) ? [value] : [],
  );
  let kept = '';
  return {
    add(chunk) {
      kept = (kept + chunk).slice(-MAX_CHARS);
    },
    text: () => hideSecrets(kept, secrets).trim(),
  };
}

function hideSecrets(text: string, secrets: readonly string[]): string {
  const known = secrets.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
  return known.replace(TOKENS, (_, scheme: string | undefined) => `${scheme ?? ''}${HIDDEN}`);
}
