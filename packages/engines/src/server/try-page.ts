import { PagefleetError } from '@pagefleet/contract';
import type { Drawing } from '../vlm/drawing.ts';
import type { ModelServer } from '../vlm/model-server.ts';
import { createVlmReader, type ReadingSettings } from '../vlm/vlm-reader.ts';
import { trialPage } from './trial-page.ts';

/** Enough to see that tokens come; its text is not judged. */
const TRIAL_TOKENS = 16;

/**
 * Has one small page read the way every page is, with few tokens. Resolves when a reply came, whatever it says: a model
 * whose first tokens are no whole page infers all the same. Rejects with what kept a reply from coming.
 */
export async function tryPage(
  settings: ReadingSettings,
  { drawing, server, signal }: { drawing: Drawing; server: ModelServer; signal: AbortSignal },
): Promise<void> {
  let hasReplied = false;
  const brief = { ...settings, maxTokens: TRIAL_TOKENS, retries: 0, continuations: 0 };
  const replied = (): void => {
    hasReplied = true;
  };
  const reader = createVlmReader(brief, drawing);
  try {
    await reader.read(trialPage(signal), server, { asked: () => undefined, rejected: replied });
  } catch (error) {
    const isReply = hasReplied && error instanceof PagefleetError && error.code === 'page_unreadable';
    if (!isReply) throw error;
  }
}
