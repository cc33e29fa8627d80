import { isProfileName, type PodSettings } from '@pagefleet/contract';
import type { EngineSettings } from '@pagefleet/engines';

/** What the engine is told of what the pod was told. `recordFile`: where the pid of a model server is noted. */
export function engineSettings(settings: PodSettings, recordFile: string | null): EngineSettings {
  const { engine: kind, width, maxPixels } = settings;
  if (kind === 'sleep') return { kind, width, sleepMs: settings.sleepMs };
  if (!isProfileName(kind)) {
    const { languages, dpi, pageTimeoutMs, tesseract: implementation } = settings;
    return { kind, width, languages, dpi, pageTimeoutMs, maxPixels, implementation };
  }
  const { loopFirstLook: firstLook, loopStep: step, loopHits: hits } = settings;
  return {
    ...{ kind, width, maxPixels, recordFile },
    command: settings.serverCommand,
    env: settings.serverEnv,
    startMs: settings.serverStartMs,
    dpi: settings.readDpi,
    promptFolder: settings.prompts,
    reading: {
      maxTokens: settings.readMaxTokens,
      continuations: settings.readContinuations,
      retries: settings.readRetries,
      timeoutMs: settings.readTimeoutMs,
      loop: settings.loopAbort ? { firstLook, step, hits } : null,
      accentRepair: settings.accentRepair,
      tokenTrace: settings.tokenTrace,
    },
  };
}
