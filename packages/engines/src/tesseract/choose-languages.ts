import { PagefleetError } from '@pagefleet/contract';

const DEFAULT_LANGUAGE = 'eng';
/** Data files that describe writing, not a language. */
const NO_LANGUAGES = new Set(['osd', 'equ', 'snum']);

/** What every page is read with unless it asks for others: without it the engine cannot do what the pod is for. */
export function requireLanguages(configured: readonly string[], installed: readonly string[]): void {
  try {
    chooseLanguages(configured, installed);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PagefleetError(
      'config_invalid',
      `the pool's setting languages (${configured.join(', ')}) cannot be met: ${reason}`,
      { cause },
    );
  }
}

/** Checked against what is installed, so that a missing language is told by name and not by an engine that fails. */
export function chooseLanguages(asked: readonly string[], installed: readonly string[]): readonly string[] {
  const readable = installed.filter((language) => !NO_LANGUAGES.has(language));
  if (readable.length === 0)
    throw new PagefleetError('engine_failed', 'no language data is installed for the engine');
  const wanted = [...new Set(asked)];
  if (wanted.length === 0)
    return readable.includes(DEFAULT_LANGUAGE) ? [DEFAULT_LANGUAGE] : readable.slice(0, 1);
  const missing = wanted.filter((language) => !readable.includes(language));
  if (missing.length === 0) return wanted;
  throw new PagefleetError(
    'bad_request',
    `language ${missing.join(', ')} is not installed; installed are ${readable.join(', ')}`,
    { details: { param: 'languages', installed: readable } },
  );
}
